#!/bin/sh
# Receives a webhook as a CGI program of your web server, and writes what edgeward has sent to a file. Needs jq and openssl.
# usage: with EDGEWARD_WEBHOOK_SECRET=whsec_… and NOTIFICATIONS=FILE in the environment
set -euf

# Whether edgeward has sent this within the last five minutes; $1 is a file with the body as it came.
verify() {
  case ${HTTP_WEBHOOK_TIMESTAMP-} in '' | 0* | *[!0-9]*) return 1 ;; esac
  age=$(($(date +%s) - HTTP_WEBHOOK_TIMESTAMP))
  [ "${age#-}" -le 300 ] || return 1
  # On a machine of your own: its other users can see the key among openssl's arguments.
  key=$(printf %s "${EDGEWARD_WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  wanted=v1,$({ printf '%s.%s.' "${HTTP_WEBHOOK_ID-}" "$HTTP_WEBHOOK_TIMESTAMP" && cat "$1"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  # While a secret is being replaced there is a signature with each, and one that matches is enough.
  for each in ${HTTP_WEBHOOK_SIGNATURE-}; do [ "$each" != "$wanted" ] || return 0; done
  return 1
}

body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c "${CONTENT_LENGTH:-0}" >"$body"
if verify "$body"; then
  # The same can come twice: what you do about it must do no harm then.
  jq --raw-output '"\(.event): \(.prefix_list_name) in \(.region): \(.status)"' "$body" >>"$NOTIFICATIONS"
  printf 'Status: 204\r\n\r\n'
else
  printf 'Status: 400\r\n\r\n'
fi
