use strict;
use JSON;
use LWP::Simple;
use RDF::RDFa::Parser;

my $text = get($ARGV[0]);
my $config = RDF::RDFa::Parser::Config->new('html5', '1.1');
my $triples = RDF::RDFa::Parser->new($text, $ARGV[0], $config)->consume->graph->get_statements;
while (my $t = $triples->next) {
    my ($s, $p, $o) = $t->nodes;
    my $value = !$o->is_literal ? $o->uri_value : $o->literal_value . ($o->has_language ? '@' . $o->literal_value_language : '');
    print JSON->new->ascii->encode({ id => join ' ', $s->uri_value, $p->uri_value, $value }), "\n";
}
