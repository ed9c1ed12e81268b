use strict;
use JSON;
use LWP::Simple;
use XML::Atom::Feed;

$XML::Atom::ForceUnicode = 1;

my $feed = XML::Atom::Feed->new(\get($ARGV[0])) or die XML::Atom::Feed->errstr;
for my $e ($feed->entries) {
    my %link;
    $link{ $_->rel } //= $_->href for $e->link;
    my $author = $e->author;
    print JSON->new->ascii->encode({
        id => $e->id, link => $link{alternate}, title => $e->title, summary => $e->summary, updated => $e->updated,
        published => $e->published, author => $author && $author->name, lang => $e->lang, enclosure => $link{enclosure},
    }), "\n";
}
