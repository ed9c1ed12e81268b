use strict;
use JSON;
use XML::FeedPP;

for my $e (XML::FeedPP->new($ARGV[0], utf8_flag => 1)->get_item) {
    print JSON->new->ascii->encode({
        id => $e->guid, link => $e->link, title => $e->title, summary => $e->description, updated => $e->pubDate,
        published => $e->get('published'), author => $e->author,
    }), "\n";
}
