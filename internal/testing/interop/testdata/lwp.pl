use strict;
use Digest::SHA;
use File::Temp 'tempdir';
use JSON;
use LWP::UserAgent;

my ($agent, $file) = (LWP::UserAgent->new, tempdir(CLEANUP => 1) . '/body');
my $locs = sub { map { s/&amp;/&/gr } $agent->get($_[0])->decoded_content =~ m{<loc>([^<]*)}g };
for my $url (map { $locs->($_) } $locs->($ARGV[0])) {
    unlink $file;
    $agent->mirror($url, $file)->is_success or die $url;
    print encode_json({
        id => $url, sha256 => Digest::SHA->new(256)->addfile($file)->hexdigest, updated => (stat $file)[9],
        again => $agent->mirror($url, $file)->code,
    }), "\n";
}
