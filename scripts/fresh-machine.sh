#!/bin/sh
# Runs demo.sh on a fresh Debian 12: a chroot made with debootstrap that holds nothing but the committed tree. Needs root.
# DEBIAN_MIRROR names another mirror than the default. Prints how long the demo took; fails when it takes over 3 minutes.
set -eu
cd "$(dirname "$0")/.."

mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
root=$(mktemp -d)
cleanup() {
    umount "$root/proc" "$root/dev" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap cleanup EXIT

debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ -f /etc/apt/apt.conf ] && cp /etc/apt/apt.conf "$root/etc/apt/apt.conf"
find /etc/apt/apt.conf.d -name '*proxy*' -exec cp {} "$root/etc/apt/apt.conf.d/" \;
mkdir "$root/cupel"
git archive HEAD | tar -x -C "$root/cupel"

start=$(date +%s)
chroot "$root" sh -c 'cd /cupel && ./demo.sh'
seconds=$(($(date +%s) - start))
echo "demo.sh on a fresh machine: $seconds s"
[ "$seconds" -le 180 ]
