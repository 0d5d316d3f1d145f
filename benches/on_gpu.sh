#!/usr/bin/env bash
# Packs what a machine with a GPU needs to check and to measure sinew: no cargo, no network and no checkout there.
#
#   benches/on_gpu.sh [FOLDER]       build and pack into FOLDER (target/on_gpu)
#   FOLDER/run.sh [OUT [OPTIONS]]    on the machine with the GPU: run everything, and leave what was found in OUT
#
# FOLDER holds three stripped programs (at most 64 MiB in all) and, from this machine, the Vulkan loader, for machines that
# have a driver without one. run.sh runs
#   1. `sinew devices --verify` on the adapter: OUT/verify.json,
#   2. the engine's tests of the suite's baselines: OUT/peers.log,
#   3. the suite: OUT/RESULTS.md (the section of this adapter), OUT/suite.json.
# ADAPTER=NAME takes the adapter whose name contains NAME, a software one too; OPTIONS go to the suite (--quick, --only A,C).
# Copy the section into benches/RESULTS.md.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
folder="${1:-$target/on_gpu}"

built() { # TARGET-KIND NAME CARGO-ARGUMENTS...: the path of a release program
    local kind="$1" name="$2"
    shift 2
    cargo "$@" --release --locked --message-format=json-render-diagnostics |
        sed -n "s/.*\"kind\":\[\"$kind\"\].*\"name\":\"$name\".*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -n 1
}

echo "building" >&2
engine="$(built test engine test -p sinew --test engine --no-run)"
suite="$(built bench suite bench -p sinew-cli --bench suite --no-run)"
sinew="$(built bin sinew build -p sinew-cli --bin sinew)"

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
cp "$engine" "$folder/bin/engine"
cp "$suite" "$folder/bin/suite"
cp "$sinew" "$folder/bin/sinew"
strip "$folder"/bin/*
loader="$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p | sed -n 's/.*libvulkan\.so\.1 .*x86-64.* => //p' | head -n 1)"
if [ -n "$loader" ]; then
    cp -L "$loader" "$folder/lib/libvulkan.so.1"
else
    echo "no Vulkan loader is here (Debian: libvulkan1); the machine with the GPU must have one" >&2
fi

cat >"$folder/run.sh" <<'RUN'
#!/usr/bin/env bash
# Checks and measures sinew on this machine's GPU; benches/on_gpu.sh made it.
#
#   run.sh [OUT [OPTIONS OF THE SUITE]]
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="${1:-$PWD/on_gpu}"
[ $# -gt 0 ] && shift
mkdir -p "$out"
export SINEW="$here/bin/sinew"
# The system's own loader first.
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/lib/x86_64-linux-gnu:$here/lib"
[ -n "${XDG_RUNTIME_DIR:-}${WAYLAND_DISPLAY:-}" ] || export NODEVICE_SELECT=1
# Where NVIDIA's driver is mounted without its manifest.
nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$nvidia" ]; then export VK_DRIVER_FILES="$nvidia"; fi
adapter=()
[ -n "${ADAPTER:-}" ] && adapter=(--adapter "$ADAPTER")

failed=0
step() { # NAME COMMAND...: its output is shown and kept
    local name="$1"
    shift
    echo "== $name" >&2
    "$@" 2>&1 | tee "$out/$name.log"
    local code="${PIPESTATUS[0]}"
    [ "$code" = 0 ] || { failed=1; echo "== $name: exit code $code" >&2; }
}
{
    date -u
    uname -srm
    sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
    nproc
    nvidia-smi 2>/dev/null
} >"$out/system.txt" 2>&1
step devices "$SINEW" devices
step verify "$SINEW" devices --verify "${adapter[@]}" --report "$out/verify.json"
step peers "$here/bin/engine" peers::
step suite "$here/bin/suite" --results "$out/RESULTS.md" --json "$out/suite.json" "${adapter[@]}" "$@"
exit "$failed"
RUN
chmod +x "$folder/run.sh"
bytes="$(du -sb "$folder" | cut -f1)"
echo "$folder: $((bytes >> 20)) MiB" >&2
if [ "$bytes" -gt $((64 << 20)) ]; then
    echo "more than 64 MiB" >&2
    exit 1
fi
