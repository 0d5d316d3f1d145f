#!/usr/bin/env bash
# Packages of Debian forky, for scripts that need something newer than the machine's Debian has. To be sourced.

refuse() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}

# unpack_forky FOLDER PACKAGE...: unpacks packages and all that they need into a folder. It needs Debian on x86-64 and the
# network. Nothing is installed, and root is not needed.
unpack_forky() {
    local folder="$1" keys=/usr/share/keyrings/debian-archive-keyring.gpg package
    shift
    if [ "$(uname -m)" != x86_64 ] || [ ! -e "$keys" ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        refuse "expected Debian on x86-64, with $keys"
    fi
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
    of_forky --download-only install "$@" >/dev/null
    for package in "$state"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --exclude='*/gconv' --exclude='./usr/share/doc'
    done
}
