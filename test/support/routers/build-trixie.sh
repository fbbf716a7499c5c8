#!/bin/sh
# Builds a small Debian trixie with FRR 10 below DIRECTORY, once; whoever comes while it is built waits for it.
# usage: build-trixie.sh DIRECTORY
set -eu
directory=$1
mkdir -p "$directory"
exec 9>"$directory/trixie.lock"
flock 9
if [ ! -e "$directory/trixie/.complete" ]; then
  # An attempt that was broken off is begun anew.
  rm -rf "$directory/trixie"
  mmdebstrap --quiet --variant=apt --include=frr,openssh-server,gobgpd,bird2,iproute2 trixie "$directory/trixie" >"$directory/trixie.log" 2>&1 || {
    tail -n 20 "$directory/trixie.log" >&2
    exit 1
  }
  : >"$directory/trixie/.complete"
fi
