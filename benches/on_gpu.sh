#!/usr/bin/env bash
# Packs what a machine with a GPU needs to check and to measure sinew: no cargo, no network and no checkout there.
#
#   benches/on_gpu.sh [FOLDER]                     build, and pack into FOLDER (target/on_gpu): at most 64 MiB
#   FOLDER/run.sh --help                           on the machine with the GPU
#   benches/on_gpu/try.sh [FOLDER [ARGUMENTS]]     the same here on lavapipe, where nothing but FOLDER is
#
# FOLDER holds release programs (the command, the suite, the GPU tests), the files that the tests read, and shared
# libraries of this machine that the other may lack: Vulkan's loader, and what drivers of NVIDIA load. If SINEW_OZZ names
# what benches/ozz/build.sh built, that is packed too.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="${1:-${CARGO_TARGET_DIR:-target}/on_gpu}"

built() { # TARGET-KIND NAME CARGO-ARGUMENTS...: the path of a release program
    local kind="$1" name="$2"
    shift 2
    cargo "$@" --locked --message-format=json-render-diagnostics |
        sed -n "s/.*\"kind\":\[\"$kind\"\].*\"name\":\"$name\".*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -n 1
}

library() { # NAME: the file of a shared library of this machine; nothing if it is not here
    PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | sed -n "s/^[[:space:]]*$1 (libc6,x86-64.* => //p" | head -n 1
}

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib" "$folder/ozz" "$folder/checkout/examples" "$folder/checkout/crates/sinew-render/tests/render"
echo "building" >&2
cp "$(built bin sinew build --release -p sinew-cli --bin sinew)" "$folder/bin/sinew"
cp "$(built bench suite bench -p sinew-cli --bench suite --no-run)" "$folder/bin/suite"
cp "$(built test engine test --release -p sinew --test engine --no-run)" "$folder/bin/engine"
cp "$(built test allocations test --release -p sinew --test allocations --no-run)" "$folder/bin/allocations"
cp "$(built test render test --release -p sinew-render --test render --no-run)" "$folder/bin/render"
strip "$folder"/bin/*
# The tests of pictures read these, from the folder of their package.
cp -r examples/assets "$folder/checkout/examples/"
cp -r crates/sinew-render/tests/render/scenes "$folder/checkout/crates/sinew-render/tests/render/"
if [ -n "${SINEW_OZZ:-}" ]; then
    cp "$SINEW_OZZ"/skinning_time* "$folder/ozz/"
fi
for name in libvulkan.so.1 libEGL.so.1 libGLX.so.0 libGLdispatch.so.0 libX11.so.6 libXext.so.6 libxcb.so.1 libXau.so.6 \
    libXdmcp.so.6 libbsd.so.0 libmd.so.0; do
    file="$(library "${name//./\\.}")"
    if [ -n "$file" ]; then
        cp -L "$file" "$folder/lib/$name"
    elif [ "$name" = libvulkan.so.1 ]; then
        echo "no Vulkan loader is here (Debian: libvulkan1); the machine with the GPU must have one" >&2
    fi
done
libc="$(objdump -T "$folder"/bin/* | sed -n 's/.*(\?GLIBC_\([0-9.]*\)).*/\1/p' | sort -uV | tail -n 1)"
# Packed tight, for what takes folders of a bounded size along.
tar -C "$folder" -czf "$folder/programs.tar.gz" bin ozz lib checkout
rm -r "${folder:?}"/{bin,ozz,lib,checkout}
cp benches/on_gpu/run.sh "$folder/run.sh"
git rev-parse HEAD >"$folder/commit.txt" 2>/dev/null || true

bytes="$(du -sb "$folder" | cut -f1)"
echo "$folder: $((bytes >> 20)) MiB; needs glibc $libc" >&2
if [ "$bytes" -gt $((64 << 20)) ]; then
    echo "more than 64 MiB" >&2
    exit 1
fi
