#!/bin/sh
# Takes an address out of service for four hours, and waits until all routers have it. Needs curl and jq.
# usage: EDGEWARD_URL=https://edgeward.example.net EDGEWARD_TOKEN=edw_… sh disable.sh ADDRESS
set -eu

# After 429 and 503 curl asks again when the server says so: the same call twice changes nothing.
ask() {
  path=$1
  shift
  answer=$(printf 'Authorization: Bearer %s' "$EDGEWARD_TOKEN" |
    curl --silent --show-error --fail-with-body --retry 20 --max-time 90 --header @- "$@" "$EDGEWARD_URL/api/v1$path") || {
    printf '%s\n' "$answer" >&2
    return 1
  }
  printf '%s' "$answer"
}

body=$(jq --null-input --arg ip "$1" '{ip: $ip, until: "PT4H", reason: "under attack", ticket: "NET-4711"}')
changed=$(ask /ips/disable --json "$body")
printf '%s' "$changed" | jq --raw-output '"\(.data.address) is \(.data.status)"'

# Counts as text: jq rounds those of a /64.
subnets=$(ask '/subnets?numbers=string')
printf '%s' "$subnets" | jq --raw-output '.data[] | "\(.cidr): \(.ip_counts.disabled) of \(.ip_counts.total) disabled"'

# Each question waits at the server for up to half a minute, so that two requests a minute are spent.
for id in $(printf '%s' "$subnets" | jq '.data[] | select(.ip_counts.pending != "0") | .id'); do
  left=unknown
  while [ "$left" != 0 ]; do
    pending=$(ask "/subnets/$id/pending?view=ranges&wait=PT30S&numbers=string")
    left=$(printf '%s' "$pending" | jq --raw-output .meta.pending_changes)
  done
done
echo 'all routers have it'
