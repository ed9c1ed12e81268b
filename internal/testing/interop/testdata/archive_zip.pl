use strict;
use Archive::Zip ':ERROR_CODES';
use Digest::SHA 'sha256_hex';
use JSON;

my $zip = Archive::Zip->new;
$zip->read($ARGV[0]) == AZ_OK or die;
for my $m ($zip->members) {
    my ($bytes, $status) = $m->contents;
    $status == AZ_OK or die;
    print encode_json({ id => $m->fileName, sha256 => sha256_hex($bytes), updated => $m->lastModTime }), "\n";
}
