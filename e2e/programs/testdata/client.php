<?php
// A legacy client in PHP: adds, reads, changes, lists and deletes, and compares every
// text with what it sent. Arguments: the address of /API.php and the cookie.

[, $address, $cookie] = $argv;
$user = substr(explode(';', $cookie)[0], strlen('id='));
$first = "東北角 🏖️👩‍👩‍👧 <b>\"R&D\"</b> ']]>' 100% a+b;c=d";
$second = "第二行\r\n第三行\n\ttab\rend & 𠮷野家 ]]> \u{a0}\u{200d} é ￥";

function call(array $parameters, ?string $cookie = null): SimpleXMLElement
{
    global $address;
    $header = "Content-Type: application/x-www-form-urlencoded\r\n";
    if ($cookie !== null) {
        $header .= "Cookie: $cookie\r\n";
    }
    $context = stream_context_create(['http' => [
        'method' => 'POST', 'header' => $header, 'content' => http_build_query($parameters),
    ]]);
    return new SimpleXMLElement(file_get_contents($address, false, $context));
}

function succeed(array $parameters, ?string $cookie = null): SimpleXMLElement
{
    $reply = call($parameters, $cookie);
    same((string) $reply->status . $reply->info, 'SUCCESS');
    return $reply;
}

function same(string $got, string $want): void
{
    if ($got !== $want) {
        fwrite(STDERR, "got $got, want $want\n");
        exit(1);
    }
}

$place = ['lat' => '25.034', 'lng' => '-121.5645'];
$added = succeed(['func' => 'addAlbum', 'albumTitle' => $first, 'category' => 5] + $place, $cookie);
$album = (string) $added->albumID;
$shown = succeed(['func' => 'getAlbum', 'albumID' => $album]);
same((string) $shown->albumTitle, $first);
same((string) $shown->Location->lat, '25.034');
succeed(['func' => 'updateAlbum', 'albumID' => $album, 'albumTitle' => $second], $cookie);
same((string) succeed(['func' => 'getAlbum', 'albumID' => $album])->albumTitle, $second);
$titles = [];
foreach (succeed(['func' => 'getUserAlbumList', 'userID' => $user])->albumList->children() as $item) {
    $titles[(string) $item->albumID] = (string) $item->albumTitle;
}
same($titles[$album], $second);
succeed(['func' => 'updateAlbum', 'albumID' => $album, 'delete' => 'true'], $cookie);
same((string) call(['func' => 'getAlbum', 'albumID' => $album])->info, 'ALBUM NOT FOUND');
echo "all the same\n";
