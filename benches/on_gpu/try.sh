#!/usr/bin/env bash
# Runs what benches/on_gpu.sh packed here, on lavapipe, in a root folder that holds nothing but FOLDER, a shell with a few
# programs, and that driver without Vulkan's loader: if something of the checkout is missing there, this shows it.
#
#   benches/on_gpu/try.sh [FOLDER [ARGUMENTS OF run.sh]]
#
# Results come into FOLDER/../on_gpu_results. Needs Linux, root (or unshare's right to mount) and mesa-vulkan-drivers.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="$(realpath "${1:-${CARGO_TARGET_DIR:-target}/on_gpu}")"
[ $# -gt 0 ] && shift
results="$(realpath -m "$folder/../on_gpu_results")"
icd="$(find /usr/share/vulkan/icd.d /etc/vulkan/icd.d -name 'lvp_icd*.json' 2>/dev/null | head -n 1)"
if [ -z "$icd" ]; then
    echo "lavapipe is not here (Debian: mesa-vulkan-drivers)" >&2
    exit 1
fi
root="$(mktemp -d)"
trap 'rm -rf "$root"' EXIT

put() { # FILE...: each file at its own path in the new root
    local file
    for file in "$@"; do
        mkdir -p "$root$(dirname "$file")"
        cp -L "$file" "$root$file"
    done
}
put_with_libraries() { # FILE...
    local file
    for file in "$@"; do
        # shellcheck disable=SC2046 # paths of libraries have no spaces
        put "$file" $(ldd "$file" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p')
    done
}
unpacked="$root/unpacked"
mkdir "$unpacked"
tar -xzf "$folder/programs.tar.gz" -C "$unpacked"
driver="$(sed -n 's/.*"library_path": *"\([^"]*\)".*/\1/p' "$icd")"
put "$icd"
put_with_libraries "$driver" /sbin/ldconfig
# What the programs link to is a part of every system with glibc.
for library in $(ldd "$unpacked"/bin/* | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | sort -u); do put "$library"; done
rm -r "$unpacked"
for program in bash cat cut date dirname basename env grep gzip head ln mkdir mktemp nproc rm sed sh sync tail tar tee timeout tr \
    uname; do
    file="$(realpath "$(command -v "$program")")"
    put_with_libraries "$file"
    mkdir -p "$root/bin" "$root/usr/bin"
    cp "$file" "$root/bin/$program"
    cp "$file" "$root/usr/bin/$program"
done
mkdir -p "$root"/{proc,dev,tmp,etc,on_gpu,results} "$results"
cp -r "$folder/." "$root/on_gpu/"
cat >"$root/start.sh" <<'START'
cd /tmp
ldconfig
[ ! -e /usr/lib/x86_64-linux-gnu/libvulkan.so.1 ] || { echo "Vulkan's loader is here" >&2; exit 1; }
exec /on_gpu/run.sh --out /results --adapter llvmpipe "$@"
START
export root results
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --pid --net --ipc --fork bash -euc '
    mount --bind "$root" "$root"
    mount --bind "$results" "$root/results"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec env -i PATH=/bin:/sbin HOME=/tmp chroot "$root" /bin/bash /start.sh "$@"
' try "$@"
