# Sends what standard input asks for with the package http; see driver_test.go. Argument: the address.
package require http

lassign $argv url
set cookies {}
fconfigure stdin -encoding utf-8
fconfigure stdout -encoding utf-8
while {[gets stdin line] >= 0} {
    set form [lassign [split [string map [list \\n \n] $line] \t] method]
    set text [http::formatQuery {*}$form]
    set headers [list Cookie [join [dict values $cookies] "; "]]
    if {$method eq "GET"} {
        set token [http::geturl $url?$text -headers $headers]
    } else {
        set token [http::geturl $url -query $text -headers $headers]
    }
    foreach {name value} [http::meta $token] {
        if {[string equal -nocase $name Set-Cookie] && [regexp {^(\w+)=[^;]*} $value part key]} {
            dict set cookies $key $part
        }
    }
    puts -nonewline [http::data $token]\0
    flush stdout
    http::cleanup $token
}
