# post.sh PORT PATH BODY: posts JSON and prints the whole reply. Bash only.
exec 3<>"/dev/tcp/127.0.0.1/$1"
printf 'POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
  "$2" "$1" "${#3}" "$3" >&3
[ "$4" = leave ] || cat <&3
