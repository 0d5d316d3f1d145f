#!/usr/bin/env bash
# Unpacks Mesa's Vulkan drivers of Debian forky and all libraries that they need, and writes a program that runs others on
# its software driver. It needs Debian on x86-64 and the network. Nothing is installed, and root is not needed.
#
#   tests/fetch_mesa.sh FOLDER
#   FOLDER/run PROGRAM ARGUMENTS
set -euo pipefail
refuse() {
    echo "fetch_mesa.sh: $1" >&2
    exit 1
}
[ $# = 1 ] || refuse "expected a folder: tests/fetch_mesa.sh FOLDER"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
if [ "$(uname -m)" != x86_64 ] || [ ! -e "$keys" ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    refuse "expected Debian on x86-64, with $keys"
fi
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
rm -f "$folder/run"
# apt with a state of its own, so that this machine's packages stay as they are.
state="$(mktemp -d)"
trap 'rm -rf "$state"' EXIT
mkdir -p "$state"/etc/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} "$state"/lists/partial "$state"/cache/archives/partial
touch "$state/status"
echo "deb [signed-by=$keys] http://deb.debian.org/debian forky main" >"$state/etc/sources.list"
of_forky() {
    apt-get -qq -y -o Dir::Etc="$state/etc" -o Dir::State="$state" -o Dir::State::Lists="$state/lists" \
        -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" -o APT::Sandbox::User="$(id -un)" \
        -o APT::Update::Error-Mode=any -o APT::Install-Recommends=false -o Acquire::Languages=none \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" ||
        refuse "Debian forky could not be fetched from deb.debian.org"
}
of_forky update
of_forky --download-only install mesa-vulkan-drivers libvulkan1 >/dev/null
for package in "$state"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --exclude='*/gconv' --exclude='./usr/share/doc'
done
[ -e "$folder/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so" ] || refuse "mesa-vulkan-drivers has no software driver"
cat >"$folder/run" <<'TEXT'
#!/bin/sh
# Runs a program on this Mesa's software driver.
here="$(cd "$(dirname "$0")" && pwd)"
libraries="$here/usr/lib/x86_64-linux-gnu"
export VK_DRIVER_FILES="$here/usr/share/vulkan/icd.d/lvp_icd.json" NODEVICE_SELECT=1
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
TEXT
chmod +x "$folder/run"
