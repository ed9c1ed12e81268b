use strict;
use JSON;
use XML::Atom::Entry;
use XML::Atom::Feed;
use XML::Atom::Link;
use XML::Atom::Person;

($XML::Atom::DefaultVersion, $XML::Atom::ForceUnicode) = ('1.0', 1);
open my $in, '<', $ARGV[0];
my $site = decode_json(join '', <$in>);
my $feed = XML::Atom::Feed->new;
$feed->title('Käse & Brot');
$feed->id($site->{base});
$feed->updated('2025-04-01T00:00:00Z');
for my $i (@{ $site->{items} }) {
    my ($e, $author) = (XML::Atom::Entry->new, XML::Atom::Person->new(Name => 'author'));
    $e->$_($i->{$_}) for qw(id title summary updated published);
    $author->name($i->{author});
    $e->author($author);
    for (['alternate', $i->{id}, 'text/plain'], ['enclosure', $i->{enclosure}, 'audio/mpeg']) {
        my $link = XML::Atom::Link->new;
        ($link->rel($_->[0]), $link->href($_->[1]), $link->type($_->[2]));
        $e->add_link($link);
    }
    $feed->add_entry($e);
}
open my $out, ">", "$ARGV[1]/feed.atom";
print $out $feed->as_xml;
