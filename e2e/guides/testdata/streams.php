<?php
// Sends what standard input asks for with PHP's streams; see driver_test.go. Argument: the address.
list(, $url) = $argv;
$cookies = array();
while (($line = fgets(STDIN)) !== false) {
    $fields = explode("\t", str_replace('\n', "\n", rtrim($line, "\n")));
    $method = array_shift($fields);
    $form = array();
    foreach (array_chunk($fields, 2) as $pair) $form[$pair[0]] = $pair[1];
    $text = http_build_query($form, '', '&');
    $header = 'Cookie: ' . implode('; ', $cookies) . "\r\n";
    $options = array('method' => $method, 'ignore_errors' => true);
    if ($method === 'POST') {
        $header .= "Content-Type: application/x-www-form-urlencoded\r\n";
        $options['content'] = $text;
    }
    $options['header'] = $header;
    $address = $method === 'GET' ? "$url?$text" : $url;
    echo file_get_contents($address, false, stream_context_create(array('http' => $options))), "\0";
    foreach ($http_response_header as $set) {
        if (preg_match('/^Set-Cookie: ((\w+)=[^;]*)/i', $set, $part)) $cookies[$part[2]] = $part[1];
    }
}
