#!/usr/bin/env bash
# Builds the viewer's page: a folder of static files for any web server.
#
#   examples/viewer/web/build.sh [--quick] [FOLDER]
#
# FOLDER is target/web/page if it is not given. --quick builds a large page in less time, for tests.
#
# rustup's target wasm32-unknown-unknown is used where it is installed. Elsewhere Rust of Debian forky is unpacked into
# target/web/forky and run in a chroot, which needs Debian on x86-64.
set -euo pipefail
root="$(cd "$(dirname "$0")/../../.." && pwd)"
# shellcheck source=tests/forky.sh
. "$root/tests/forky.sh"
made="$root/target/web"
profile=web
if [ "${1:-}" = --quick ]; then
    profile=quick
    shift
fi
page="${1:-$made/page}"
mkdir -p "$made" "$page"
page="$(cd "$page" && pwd)"
cargo_home="${CARGO_HOME:-$HOME/.cargo}"
# Every browser that has WebGPU has these instructions.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-C target-feature=+simd128"

# Runs a program where there is a Rust for wasm32: here, or in the chroot, where folders have the same names.
if [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
    with_rust() { "$@"; }
else
    forky="$made/forky"
    if [ ! -e "$forky/ready" ]; then
        mkdir -p "$forky"
        unpack_forky "$forky" base-files bash ca-certificates cargo coreutils dash gcc libc6-dev libstd-rust-dev-wasm32 lld rustc
        touch "$forky/ready"
    fi
    # Expanded by the shell in the chroot's namespace.
    # shellcheck disable=SC2016
    with_rust() {
        mkdir -p "$forky/proc" "$forky/dev" "$forky$root" "$forky$cargo_home" "$forky$page" "$forky/etc/ssl/certs"
        cp /etc/resolv.conf /etc/hosts "$forky/etc/"
        cp -L /etc/ssl/certs/ca-certificates.crt "$forky/etc/ssl/certs/"
        unshare --map-root-user --mount bash -c '
            forky="$1"; shift
            for folder in /proc /dev "$1" "$2" "$3"; do mount --rbind "$folder" "$forky$folder"; done
            here="$1"; shift 3
            exec chroot "$forky" bash -c "cd \"\$0\" && exec \"\$@\"" "$here" "$@"
        ' in_forky "$forky" "$root" "$cargo_home" "$page" \
            env PATH=/usr/bin:/usr/sbin CARGO_HOME="$cargo_home" CC=gcc CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=gcc \
            CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld "$@"
    }
fi
with_rust rustc --version >/dev/null || refuse "Rust for wasm32 does not run here"
# tests/run.sh tells by this that what fails from here on is the page.
touch "$made/ready"

# A wasm-bindgen of another version refuses the file.
version() { sed -n '/^name = "wasm-bindgen-shared"$/{n;s/.*"\(.*\)"/\1/p}' "$1/Cargo.lock"; }
bindgen="$root/examples/viewer/web/bindgen"
if [ "$(version "$bindgen")" != "$(version "$root")" ]; then
    echo "$bindgen/Cargo.lock: expected wasm-bindgen $(version "$root") as in $root/Cargo.lock, found $(version "$bindgen")" >&2
    exit 1
fi
cd "$root"
cargo build --locked --manifest-path "$bindgen/Cargo.toml" --target-dir "$made/bindgen"
with_rust cargo build --locked --profile "$profile" --target wasm32-unknown-unknown --target-dir "$made/rust" \
    -p sinew-viewer --no-default-features
"$made/bindgen/debug/bindgen" "$made/rust/wasm32-unknown-unknown/$profile/sinew-viewer.wasm" "$page"
# The page has fonts in it, so their licences go with it.
cp examples/viewer/web/index.html examples/viewer/fonts/*.txt "$page"
# The sample with no more digits than show in a picture; weights sum to 1 as they are.
perl -pe 'next if /Weights/; $d = /normal/i ? 3 : 4; s/\d+\.\d{4,}/0 + sprintf("%.${d}f", $&)/ge' \
    examples/assets/hatchling.usda >"$page/hatchling.usda"
# A host compresses each file by itself.
bytes() { for file in "$page"/{index.html,viewer.js,viewer_bg.wasm}; do "$@" <"$file"; done | wc -c; }
echo "$page: $(bytes cat) bytes, $(bytes gzip -9) with gzip, without the sample"
