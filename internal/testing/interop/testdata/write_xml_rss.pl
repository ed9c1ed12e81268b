use strict;
use utf8;
use JSON;
use XML::RSS;

open my $in, '<', $ARGV[0];
my $site = decode_json(join '', <$in>);
for my $version ('2.0', '1.0') {
    my $rss = XML::RSS->new(version => $version);
    $rss->channel(title => 'Käse & Brot', link => $site->{base}, description => 'All', language => 'en');
    for my $i (@{ $site->{items} }) {
        my %dated = $version eq '1.0' ? (dc => { date => $i->{published}, creator => $i->{author} }) : (
            guid => $i->{id}, pubDate => 'Tue, 31 Dec 2024 23:59:59 GMT', author => $i->{author},
            enclosure => { url => $i->{enclosure}, type => 'audio/mpeg', length => 1000 });
        $rss->add_item(title => $i->{title}, link => $i->{id}, description => $i->{summary}, %dated);
    }
    $rss->save("$ARGV[1]/" . ($version eq '1.0' ? 'feed.rdf' : 'feed.rss'));
}
