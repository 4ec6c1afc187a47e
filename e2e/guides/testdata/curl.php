<?php
// Sends what standard input asks for with PHP's curl extension; see driver_test.go. Arguments: the
// address, and "array" or "string", the way in which the fields are given.
list(, $url, $way) = $argv;
$curl = curl_init();
curl_setopt_array($curl, array(CURLOPT_RETURNTRANSFER => true, CURLOPT_COOKIEFILE => ''));
while (($line = fgets(STDIN)) !== false) {
    $fields = explode("\t", str_replace('\n', "\n", rtrim($line, "\n")));
    $method = array_shift($fields);
    $form = array();
    foreach (array_chunk($fields, 2) as $pair) $form[$pair[0]] = $pair[1];
    $text = http_build_query($form, '', '&');
    if ($method === 'GET') {
        curl_setopt_array($curl, array(CURLOPT_HTTPGET => true, CURLOPT_URL => "$url?$text"));
    } else {
        curl_setopt_array($curl, array(CURLOPT_URL => $url, CURLOPT_POSTFIELDS => $way === 'array' ? $form : $text));
    }
    $body = curl_exec($curl);
    echo $body === false ? curl_error($curl) : $body, "\0";
}
