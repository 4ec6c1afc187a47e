<?php // curl.php
list(, $url, $password) = $argv;
$curl = curl_init($url);
curl_setopt_array($curl, array(CURLOPT_RETURNTRANSFER => true, CURLOPT_COOKIEFILE => '')); // '' keeps cookies in memory

function call($form) {
    global $curl;
    curl_setopt($curl, CURLOPT_POSTFIELDS, http_build_query($form, '', '&'));
    $reply = simplexml_load_string(curl_exec($curl));
    if ($reply->status != 'SUCCESS') exit("$reply->info\n");
    return $reply;
}

call(array('func' => 'login', 'email' => 'demo@waybook.example', 'password' => $password));
$added = call(array('func' => 'addAlbum', 'albumTitle' => '台北一日', 'category' => 5, 'lat' => 25.034, 'lng' => 121.5645));
$id = (string) $added->albumID;
$album = call(array('func' => 'getAlbum', 'albumID' => $id));
echo "$id $album->albumTitle\n";
