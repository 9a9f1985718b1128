#!/bin/sh
# Installs the Debian packages that are missing. "build" (default): what cupel needs to be built and run; "test": what the
# tests need besides. Already installed packages cost nothing, so this may be called every time.
set -eu

build="clang cmake ninja-build pkg-config libc6-dev libstdc++-12-dev libyaml-dev libjansson-dev libmpfr-dev libgmp-dev
       libffi-dev libdw-dev libelf-dev libxxhash-dev libclang-rt-14-dev"
test="libcmocka-dev clang-format gdb python3 python3-numpy python3-mpmath"

wanted=$build
[ "${1:-build}" = test ] && wanted="$build $test"

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "these Debian packages are needed, and there is no apt-get here:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "these packages are missing; install them as root:$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
