use strict;
use JSON;
use URI;
use XML::Feed;

$XML::Atom::ForceUnicode = 1;

my $feed = XML::Feed->parse(URI->new($ARGV[0])) or die XML::Feed->errstr;
my $time = sub { $_[0] && $_[0]->epoch };
for my $e ($feed->entries) {
    my $enclosure = $e->enclosure;
    print JSON->new->ascii->encode({
        id => $e->id, link => $e->link, title => $e->title, summary => $e->summary->body, updated => $time->($e->modified),
        published => $time->($e->issued), author => $e->author, enclosure => $enclosure && $enclosure->url,
    }), "\n";
}
