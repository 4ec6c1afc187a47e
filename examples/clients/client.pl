# client.pl
use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use LWP::UserAgent;
use XML::LibXML;

binmode STDOUT, ':encoding(UTF-8)';
my ($url, $password) = @ARGV;
my $client = LWP::UserAgent->new(cookie_jar => {});

sub call {
    my %form = @_;
    my $response = $client->post($url, { map { $_ => encode_utf8($form{$_}) } keys %form });
    my $reply = XML::LibXML->load_xml(string => $response->content)->documentElement;
    $reply->findvalue('status') eq 'SUCCESS' or die $reply->findvalue('info'), "\n";
    return $reply;
}

call(func => 'login', email => 'demo@waybook.example', password => $password);
my $added = call(func => 'addAlbum', albumTitle => '台北一日', category => 5, lat => 25.034, lng => 121.5645);
my $id = $added->findvalue('albumID');
print "$id ", call(func => 'getAlbum', albumID => $id)->findvalue('albumTitle'), "\n";
