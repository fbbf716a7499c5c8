#!/bin/sh
# Builds a small Debian trixie with cloud-init below DIRECTORY, once, as an image of a provider has it; whoever comes while it is built waits for it.
# usage: build-first-boot.sh DIRECTORY
set -eu
directory=$1
root=$directory/first-boot
mkdir -p "$directory"
exec 9>"$directory/first-boot.lock"
flock 9
if [ ! -e "$root/.complete" ]; then
  # An attempt that was broken off is begun anew.
  rm -rf "$root"
  # What a first boot installs is at hand already, so that a test does not wait for it to be fetched each time; it is not installed.
  mmdebstrap --quiet --variant=minbase --include=cloud-init,cloud-guest-utils,systemd,netbase --skip=cleanup/apt \
    --customize-hook='chroot "$1" apt-get install --yes --quiet --no-install-recommends --download-only nodejs' \
    trixie "$root" >"$directory/first-boot.log" 2>&1 || {
    tail -n 20 "$directory/first-boot.log" >&2
    exit 1
  }
  : >"$root/.complete"
fi
