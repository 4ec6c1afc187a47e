# client.tcl
package require http
package require tdom

lassign $argv url password
set cookies {}

proc call {args} {
    global url cookies
    set token [http::geturl $url -query [http::formatQuery {*}$args] -headers [list Cookie [join [dict values $cookies] "; "]]]
    foreach {name value} [http::meta $token] {
        if {[string equal -nocase $name Set-Cookie] && [regexp {^(\w+)=[^;]*} $value part key]} {
            dict set cookies $key $part
        }
    }
    set reply [[dom parse [http::data $token]] documentElement]
    http::cleanup $token
    if {[$reply selectNodes string(status)] ne "SUCCESS"} { error [$reply selectNodes string(info)] }
    return $reply
}

call func login email demo@waybook.example password $password
set added [call func addAlbum albumTitle 台北一日 category 5 lat 25.034 lng 121.5645]
set id [$added selectNodes string(albumID)]
set album [call func getAlbum albumID $id]
fconfigure stdout -encoding utf-8
puts "$id [$album selectNodes string(albumTitle)]"
