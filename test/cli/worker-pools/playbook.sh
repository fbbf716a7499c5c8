#!/bin/sh
# What a configuration management tool does: it says what is to be, over and over, and looks whether anything changed.
# usage: NODE=… MAIN=… DATA_DIR=… playbook.sh DIRECTORY
set -eu

edgeward() {
  "$NODE" "$MAIN" "$@"
}

ensure() {
  edgeward "$@" --json
}

directory=$1

ensure asset create cloud-provider-account --data "$directory/account.yaml"
ensure asset create apt-authentication --data - <<EOF
name: nightly
configuration:
  url: https://deb.example.com/worker
  suite: trixie
credentials:
  username: worker
  password: hunter2
EOF
ensure worker_pool create spot \
  --provider-account aws-main \
  --enabled \
  --architectures amd64,arm64 \
  --specifications "$directory/specifications.yaml" \
  --instance-wide \
  --no-ephemeral \
  --limits "$directory/limits.json" \
  --static-metadata - \
  --apt-authentication nightly <<EOF
{"site": "fra1", "owners": ["build"]}
EOF
ensure scope create debian
ensure scope add_worker_pool debian spot --priority 10 --limits "$directory/scope-limits.yaml"
