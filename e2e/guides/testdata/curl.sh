# Sends what standard input asks for with curl; see driver_test.go. Arguments: the address, a file for
# cookies, and the option for a field of a POST: --data-urlencode or --form-string.
url=$1 jar=$2 option=$3
while IFS=$'\t' read -r -a fields; do
  form=()
  for ((i = 1; i < ${#fields[@]}; i += 2)); do
    value=${fields[i + 1]//'\n'/$'\n'}
    if [[ ${fields[0]} == GET ]]; then
      form+=(-G --data-urlencode "${fields[i]}=$value")
    else
      form+=("$option" "${fields[i]}=$value")
    fi
  done
  curl -sS -b "$jar" -c "$jar" "$url" "${form[@]}"
  printf '\0'
done
