<?php // upload.php
list(, $url, $password, $photo) = $argv;
$curl = curl_init($url);
curl_setopt_array($curl, array(CURLOPT_RETURNTRANSFER => true, CURLOPT_COOKIEFILE => ''));

function call($form) {
    global $curl;
    curl_setopt($curl, CURLOPT_POSTFIELDS, $form); // an array is sent as multipart/form-data, in its order
    $reply = simplexml_load_string(curl_exec($curl));
    if ($reply->status != 'SUCCESS') exit("$reply->info\n");
    return $reply;
}

function uuid() {
    $hex = bin2hex(openssl_random_pseudo_bytes(16));
    return preg_replace('/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/', '$1-$2-4$3-8$4-$5', $hex);
}

call(array('func' => 'login', 'email' => 'demo@waybook.example', 'password' => $password));
$added = call(array('func' => 'addAlbum', 'albumTitle' => '台北一日', 'category' => 5, 'lat' => 25.034, 'lng' => 121.5645));
$id = (string) $added->albumID;
call(array('func' => 'addPhoto', 'albumID' => $id, 'requestID' => uuid(), 'photo' => new CURLFile($photo)));
echo call(array('func' => 'getAlbum', 'albumID' => $id))->photos->photo1->thumbnail, "\n";
