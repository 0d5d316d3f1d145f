#!/usr/bin/env bash
# Checks and measures sinew on this machine's GPU; benches/on_gpu.sh packed it.
#
#   run.sh [OPTIONS] [STEP...] [-- OPTIONS OF THE SUITE]
#
# Steps, in this order; all without a name:
#   verify   `sinew devices --verify`: verify.log, verify.json
#   tests    the GPU tests of the engine and of pictures: tests.log
#   suite    the suite: suite.log, suite.json, RESULTS.md (the section of this adapter, for benches/RESULTS.md)
#
# Options:
#   --out FOLDER      where all of it lies, with system.txt (./on_gpu_results)
#   --minutes N       stop after N minutes (9): a step that is cut off leaves its log, the suite also its tables
#   --adapter NAME    the adapter whose name contains NAME, a software one too; else the hardware there is
#
# Exit code: 0 if all that ran passed, 1 if not, 2 if the arguments are wrong.
#
#   run.sh verify tests
#   run.sh --minutes 9 suite -- --only A,C,D
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="$PWD/on_gpu_results"
minutes=9
adapter=
steps=()
wrong() {
    echo "$1; run.sh --help" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case "$1" in
        --help | -h)
            sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"
            exit 0
            ;;
        --out | --minutes | --adapter)
            [ $# -gt 1 ] || wrong "$1 takes a value"
            case "$1" in
                --out) out="$2" ;;
                --minutes) minutes="$2" ;;
                --adapter) adapter="$2" ;;
            esac
            shift 2
            ;;
        verify | tests | suite)
            steps+=("$1")
            shift
            ;;
        --)
            shift
            break
            ;;
        *) wrong "$1: no such step or option" ;;
    esac
done
case "$minutes" in
    '' | *[!0-9]* | 0) wrong "--minutes $minutes: not a whole number above 0" ;;
esac
[ ${#steps[@]} -gt 0 ] || steps=(verify tests suite)
wants() { case " ${steps[*]} " in *" $1 "*) true ;; *) false ;; esac; }
mkdir -p "$out" || exit 2
out="$(cd "$out" && pwd)"
end=$(($(date +%s) + minutes * 60))
left() { echo $((end - $(date +%s))); }

packed="$(mktemp -d)"
trap 'rm -rf "$packed"' EXIT
tar -xzf "$here/programs.tar.gz" -C "$packed" || exit 1
# Packed libraries stand in for those that this machine lacks, and for no others.
libraries="$packed/stand_ins"
mkdir "$libraries"
known="$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null)"
stand_ins=
for file in "$packed"/lib/*; do
    name="$(basename "$file")"
    case "$known" in
        *"$name "*) ;;
        *)
            ln -s "$file" "$libraries/$name"
            stand_ins="$stand_ins $name"
            ;;
    esac
done
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries"
# Mesa's device-select layer complains about a missing Wayland otherwise.
[ -n "${XDG_RUNTIME_DIR:-}${WAYLAND_DISPLAY:-}" ] || export NODEVICE_SELECT=1
# Where NVIDIA's driver is mounted without being registered.
nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_DRIVER_FILES:-}" ] && [ -e "$nvidia" ]; then export VK_DRIVER_FILES="$nvidia"; fi
export SINEW="$packed/bin/sinew"
[ -e "$packed/ozz/skinning_time" ] && export SINEW_OZZ="${SINEW_OZZ:-$packed/ozz}"
if [ -z "${SINEW_TORCH:-}" ] && wants suite &&
    timeout 60 python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    export SINEW_TORCH=python3
fi
chosen=()
[ -n "$adapter" ] && chosen=(--adapter "$adapter")

{
    date -u
    echo "commit $(cat "$here/commit.txt" 2>/dev/null)"
    uname -srm
    sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1
    echo "$(nproc) threads"
    grep MemTotal /proc/meminfo
    echo "packed libraries in use:${stand_ins:- none}"
    echo "PyTorch: ${SINEW_TORCH:-none}; ozz-animation: ${SINEW_OZZ:-none}"
    command -v nvidia-smi >/dev/null && timeout 20 nvidia-smi
    timeout 60 "$SINEW" devices
} 2>&1 | tee "$out/system.txt"

failed=0
summary=
report() { # NAME CODE SECONDS
    local what
    case "$2" in
        0) what=passed ;;
        124 | 137) what="stopped: the time was over" ;;
        *) what="failed (exit code $2)" ;;
    esac
    [ "$2" = 0 ] || failed=1
    summary="$summary$1: $what, $3 s"$'\n'
}
step() { # LOG NAME COMMAND...: its output is shown, and added to OUT/LOG.log
    local log="$1" name="$2" start code
    shift 2
    start="$(date +%s)"
    if [ "$(left)" -le 0 ]; then
        report "$name" 124 0
        return
    fi
    echo "== $name" | tee -a "$out/$log.log"
    timeout -k 5 "$(left)" "$@" 2>&1 | tee -a "$out/$log.log"
    code="${PIPESTATUS[0]}"
    report "$name" "$code" $(($(date +%s) - start))
}
if wants verify; then
    rm -f "$out/verify.log" "$out/verify.json"
    step verify verify "$SINEW" devices --verify "${chosen[@]}" --report "$out/verify.json"
fi
if wants tests; then
    rm -f "$out/tests.log"
    # The engine's come last, as they take longest.
    step tests "tests of allocations" "$packed/bin/allocations"
    cd "$packed/checkout/crates/sinew-render" && step tests "tests of pictures" "$packed/bin/render" --skip real_geometry::
    step tests "tests of the engine" "$packed/bin/engine"
fi
if wants suite; then
    rm -f "$out/suite.log" "$out/suite.json" "$out/RESULTS.md"
    step suite suite "$packed/bin/suite" --results "$out/RESULTS.md" --json "$out/suite.json" --seconds "$(($(left) - 20))" \
        "${chosen[@]}" "$@"
fi
echo "== results in $out"
printf '%s' "$summary"
exit "$failed"
