use strict;
use JSON;
use XML::FeedPP;

open my $in, '<', $ARGV[0];
my $site = decode_json(join '', <$in>);
my %kinds = ('feed.atom' => 'XML::FeedPP::Atom::Atom10', 'feed.rss' => 'XML::FeedPP::RSS', 'feed.rdf' => 'XML::FeedPP::RDF');
while (my ($name, $kind) = each %kinds) {
    my $feed = $kind->new;
    $feed->title("K\x{e4}se & Brot");
    $feed->link($site->{base});
    for my $i (@{ $site->{items} }) {
        my $e = $feed->add_item($i->{id});
        $e->guid($i->{id});
        $e->title($i->{title});
        $e->description($i->{summary});
        $e->pubDate($name eq 'feed.atom' ? $i->{updated} : $i->{published});
        $e->author($i->{author});
    }
    $feed->to_file("$ARGV[1]/$name");
}
