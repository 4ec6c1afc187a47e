<?php // streams.php
list(, $url, $password) = $argv;
$cookies = array();

function call($form) {
    global $url, $cookies;
    $header = "Content-Type: application/x-www-form-urlencoded\r\n";
    if ($cookies) $header .= 'Cookie: ' . implode('; ', $cookies) . "\r\n";
    $options = array('method' => 'POST', 'header' => $header, 'content' => http_build_query($form, '', '&'), 'ignore_errors' => true);
    $body = file_get_contents($url, false, stream_context_create(array('http' => $options)));
    foreach ($http_response_header as $line) {
        if (preg_match('/^Set-Cookie: ((\w+)=[^;]*)/i', $line, $set)) $cookies[$set[2]] = $set[1];
    }
    $reply = simplexml_load_string($body);
    if ($reply->status != 'SUCCESS') exit("$reply->info\n");
    return $reply;
}

call(array('func' => 'login', 'email' => 'demo@waybook.example', 'password' => $password));
$added = call(array('func' => 'addAlbum', 'albumTitle' => '台北一日', 'category' => 5, 'lat' => 25.034, 'lng' => 121.5645));
$id = (string) $added->albumID;
$album = call(array('func' => 'getAlbum', 'albumID' => $id));
echo "$id $album->albumTitle\n";
