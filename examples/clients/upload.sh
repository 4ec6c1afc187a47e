# upload.sh
URL=$1
PASSWORD=$2
PHOTO=$3
curl -s -o login.xml -c jar.txt "$URL" -d func=login -d email=demo@waybook.example --data-urlencode "password=$PASSWORD"
curl -s -o added.xml -b jar.txt "$URL" -d func=addAlbum --data-urlencode albumTitle=台北一日 -d category=5 -d lat=25.034 -d lng=121.5645
ALBUM=$(sed -n 's/.*<albumID>\([0-9]*\)<.*/\1/p' added.xml)
curl -s -o photo.xml -b jar.txt --retry 3 "$URL" -F func=addPhoto -F "albumID=$ALBUM" \
  -F "requestID=$(cat /proc/sys/kernel/random/uuid)" -F "photo=@$PHOTO"
curl -s -o album.xml -G "$URL" -d func=getAlbum -d "albumID=$ALBUM"
sed -n 's/.*<thumbnail>\(.*\)<\/thumbnail>.*/\1/p' album.xml
