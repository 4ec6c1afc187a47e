# Sends what standard input asks for with HTTP::Tiny; see driver_test.go. Argument: the address.
use strict;
use warnings;
use HTTP::Tiny;

my ($url) = @ARGV;
my $client = HTTP::Tiny->new;
my %cookies;
$| = 1;
binmode STDIN, ':encoding(UTF-8)';    # characters, as HTTP::Tiny takes them
while (my $line = <STDIN>) {
    chomp $line;
    $line =~ s/\\n/\n/g;
    my ($method, @form) = split /\t/, $line;
    my $options = { headers => { Cookie => join '; ', values %cookies } };
    my $response = $method eq 'GET'
        ? $client->get("$url?" . $client->www_form_urlencode(\@form), $options)
        : $client->post_form($url, \@form, $options);
    my $set = $response->{headers}{'set-cookie'} // [];
    for (ref $set ? @$set : $set) {
        $cookies{$2} = $1 if /^((\w+)=[^;]*)/;
    }
    print $response->{content}, "\0";
}
