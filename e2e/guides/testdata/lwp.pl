# Sends what standard input asks for with LWP; see driver_test.go. Argument: the address.
use strict;
use warnings;
use LWP::UserAgent;
use URI;

my ($url) = @ARGV;
my $client = LWP::UserAgent->new(cookie_jar => {});
$| = 1;
while (my $line = <STDIN>) {    # bytes, as LWP takes them
    chomp $line;
    $line =~ s/\\n/\n/g;
    my ($method, @form) = split /\t/, $line;
    my $address = URI->new($url);
    $address->query_form(@form);
    my $response = $method eq 'GET' ? $client->get($address) : $client->post($url, \@form);
    print $response->content, "\0";
}
