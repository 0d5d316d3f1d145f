#!/usr/bin/env bash
# Runs every test: makes sure of a Vulkan driver first, since the kernels are tested on one.
#
#   tests/run.sh [--quick] [arguments of cargo test]
#
# --quick               what to run while working: without Python, real files and windows, and without the tests that take
#                       longest (fuzzed bakes, clips, interruptions); GPU tests run on whatever driver there is
# SINEW_NO_GPU=1        leave out the GPU tests (they show as ignored)
# SINEW_ASSETS=FOLDER   also test the real files in FOLDER against Pixar's usd-core (tests/fetch_assets.sh
#                       fetches the public ones)
# SINEW_PYTHON=PYTHON   a Python with usd-core 26.11 and numpy; without it this script installs them into
#                       target/venv, and where it cannot, the differential test shows as ignored
# SINEW_NODE=FOLDER     a folder whose node_modules hold what tests/node/package.json asks for; without it this script
#                       installs them into target/node where node and npm are there, and where it cannot, the
#                       tests of written glTF files show as ignored
# SINEW_SWIFTSHADER=FILE  the manifest (vk_swiftshader_icd.json) of SwiftShader, a second software GPU; without it this script
#                       takes it from Debian's chromium-common, and where it cannot, its test shows as ignored
# SINEW_NO_DISPLAY=1    leave out the viewer's window, which is opened in Xvfb (its tests show as ignored)
# SINEW_SEEDS=7..90     run these seeds of the differential test
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
if [ "${1:-}" = --quick ]; then
    quick=1
    shift
    unset SINEW_ASSETS SINEW_PYTHON SINEW_NODE SINEW_SWIFTSHADER
    export SINEW_NO_DISPLAY=1
fi

have_vulkan() {
    # A loader, and at least one driver's manifest.
    case "$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null)" in
        *libvulkan.so.1*) ;;
        *) return 1 ;;
    esac
    [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] && return 0
    compgen -G '/usr/share/vulkan/icd.d/*.json' >/dev/null || compgen -G '/etc/vulkan/icd.d/*.json' >/dev/null
}

if [ "${SINEW_NO_GPU:-}" != 1 ] && [ "$(uname)" = Linux ] && ! have_vulkan; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing a software Vulkan driver (mesa-vulkan-drivers libvulkan1)" >&2
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq mesa-vulkan-drivers libvulkan1 >/dev/null
    fi
    if ! have_vulkan; then
        cat >&2 <<'TEXT'
No Vulkan driver is here, and the kernels are tested on one. Install it:
  Debian, Ubuntu:  sudo apt-get install mesa-vulkan-drivers libvulkan1
  Fedora:          sudo dnf install mesa-vulkan-drivers vulkan-loader
  Arch:            sudo pacman -S vulkan-swrast vulkan-icd-loader
or leave the GPU tests out with SINEW_NO_GPU=1.
TEXT
        exit 1
    fi
fi
# Mesa's device-select layer complains about a missing Wayland for every instance otherwise.
[ -n "${XDG_RUNTIME_DIR:-}${WAYLAND_DISPLAY:-}" ] || export NODEVICE_SELECT=1

# A display in memory, for the viewer's window, and the libraries that a window loads.
have_display() {
    command -v Xvfb >/dev/null || return 1
    local libraries
    libraries="$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null)"
    for library in libX11-xcb.so.1 libXcursor.so.1 libXi.so.6 libXrandr.so.2 libxkbcommon-x11.so.0; do
        case "$libraries" in *"$library"*) ;; *) return 1 ;; esac
    done
}

if [ -z "${SINEW_NO_GPU:-}${SINEW_NO_DISPLAY:-}" ] && [ "$(uname)" = Linux ] && ! have_display; then
    packages=(xvfb libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0)
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing a display in memory (${packages[*]})" >&2
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null; } || true
    fi
    if ! have_display; then
        echo "without Xvfb the viewer's window tests are left out (they show as ignored); Debian: ${packages[*]}" >&2
        export SINEW_NO_DISPLAY=1
    fi
fi

# SwiftShader, a second implementation of Vulkan that runs on the CPU.
if [ -z "$quick${SINEW_SWIFTSHADER:-}" ] && [ "${SINEW_NO_GPU:-}" != 1 ]; then
    swiftshader="${CARGO_TARGET_DIR:-target}/swiftshader"
    manifest="$swiftshader/usr/lib/chromium/vk_swiftshader_icd.json"
    if [ ! -e "$manifest" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
        echo "fetching SwiftShader (chromium-common) into $swiftshader" >&2
        mkdir -p "$swiftshader"
        # Two files of a package that is not installed.
        { (cd "$swiftshader" && { [ "$(id -u)" != 0 ] || apt-get update -qq; } && apt-get download -qq chromium-common &&
            dpkg-deb --fsys-tarfile chromium-common_*.deb | tar -x --wildcards './usr/lib/chromium/*vk_swiftshader*' &&
            rm -f chromium-common_*.deb) >/dev/null 2>&1; } || true
    fi
    if [ -e "$manifest" ]; then
        SINEW_SWIFTSHADER="$(cd "$(dirname "$manifest")" && pwd)/vk_swiftshader_icd.json"
        export SINEW_SWIFTSHADER
    else
        echo "without SwiftShader the kernels are tested on one driver (the other's test shows as ignored)" >&2
    fi
fi

# What runs shards of a bake beside each other.
if [ -z "$quick" ] && ! command -v parallel >/dev/null && [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing GNU parallel (parallel)" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq parallel >/dev/null; } || true
fi

# Slurm, of which a test starts a cluster of one node. No service of the system is used.
if [ -z "$quick" ] && ! PATH="$PATH:/usr/sbin" command -v slurmctld >/dev/null && [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] &&
    command -v apt-get >/dev/null; then
    packages=(munge slurmctld slurmd slurm-client)
    echo "installing Slurm (${packages[*]})" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" \
        >/dev/null; } || echo "without Slurm its test is left out (it shows as ignored)" >&2
fi

# Pixar's usd-core, for the differential test and the real files.
if [ -z "$quick${SINEW_PYTHON:-}" ]; then
    venv="${CARGO_TARGET_DIR:-target}/venv"
    has_usd() { "$venv/bin/python" -c 'import numpy; from pxr import Usd; assert Usd.GetVersion() == (0, 26, 11)' 2>/dev/null; }
    if ! has_usd; then
        echo "installing usd-core 26.11 into $venv" >&2
        { python3 -m venv --clear "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check \
            --retries 1 --timeout 20 usd-core==26.11 numpy; } || true
    fi
    if has_usd; then
        SINEW_PYTHON="$(cd "$venv/bin" && pwd)/python"
        export SINEW_PYTHON
        # What builds and tests the Python package; without it its tests show as ignored.
        wanted=crates/sinew-python/tests/requirements.txt
        cmp -s "$wanted" "$venv/package-requirements.txt" || { echo "installing $wanted into $venv" >&2 && "$venv/bin/pip" \
            install --quiet --disable-pip-version-check --retries 1 --timeout 20 --requirement "$wanted" &&
            cp "$wanted" "$venv/package-requirements.txt"; } || true
        # What farms need beside it; without it the tests of their manifests and of Dask show as ignored.
        has_farms() { "$SINEW_PYTHON" -c 'import distributed, kubernetes_validate, outline' 2>/dev/null; }
        has_farms || { echo "installing tests/farm/requirements.txt into $venv" >&2 && "$venv/bin/pip" install --quiet \
            --disable-pip-version-check --retries 1 --timeout 20 --requirement tests/farm/requirements.txt; } || true
    elif [ -n "${SINEW_ASSETS:-}" ]; then
        echo "SINEW_ASSETS: real files are compared with usd-core 26.11, which could not be installed" >&2
        exit 1
    else
        echo "without usd-core 26.11 the differential test is left out (it shows as ignored)" >&2
    fi
fi

# The validator of Khronos and three.js, for the glTF files that the command writes.
if [ -z "$quick${SINEW_NODE:-}" ]; then
    node="${CARGO_TARGET_DIR:-target}/node"
    has_packages() { cmp -s tests/node/package-lock.json "$node/package-lock.json" && [ -e "$node/installed" ]; }
    if ! has_packages && command -v node >/dev/null && command -v npm >/dev/null; then
        echo "installing the packages of tests/node/package.json into $node" >&2
        mkdir -p "$node"
        rm -f "$node/installed"
        cp tests/node/package.json tests/node/package-lock.json "$node"
        { (cd "$node" && npm ci --no-audit --no-fund --silent) && touch "$node/installed"; } || true
    fi
    if command -v node >/dev/null && has_packages; then
        SINEW_NODE="$(cd "$node" && pwd)"
        export SINEW_NODE
    else
        echo "without node.js and its packages the tests of written glTF files are left out (they show as ignored)" >&2
    fi
fi

if [ -n "${SINEW_ASSETS:-}" ]; then
    SINEW_ASSETS="$(cd "$SINEW_ASSETS" && pwd)"
    export SINEW_ASSETS
    echo "checking that the committed goldens are usd-core's own" >&2
    "$SINEW_PYTHON" tests/goldens/make_goldens.py --check
    "$SINEW_PYTHON" tests/goldens/make_utils.py --check
    "$SINEW_PYTHON" tests/crates/make_types.py --check
fi

# Every package, unless the arguments choose some.
packages=(--workspace)
for argument in "$@"; do
    case "$argument" in -p* | --package*) packages=() ;; esac
done
# The engine, layers and stages, the readers, the rules, the checks, the command and the goldens; not a second time with WebGPU's default limits, nor
# a crate that is built anew for its test.
skipped=()
if [ -n "$quick" ] && [ "${#packages[@]}" -gt 0 ]; then
    packages=(-p sinew -p sinew-layer -p sinew-stage -p sinew-io -p sinew-animate -p sinew-check -p sinew-bake -p sinew-render -p sinew-cli
        --lib --bins --test engine --test allocations --test formats --test retarget --test check --test rules
        --test against_usd_core --test commands)
    case " $* " in *" -- "*) ;; *) skipped=(-- --skip default_limits:: --skip a_renderer_takes_the_model) ;; esac
fi

exec cargo test ${packages[@]+"${packages[@]}"} --locked "$@" \
    ${skipped[@]+"${skipped[@]}"}
