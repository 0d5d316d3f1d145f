#!/usr/bin/env bash
# Runs the tests that prove what sinew promises: skinning equals the reference and usd-core on the CPU and the GPU, files
# in and out, the manners of the command. Makes sure of a Vulkan driver first, since the kernels are tested on one.
#
#   tests/run.sh [--all] [arguments of cargo test]
#
# --all                 every test of the workspace: also the viewer in a window, the examples, Python, C, farms, SwiftShader,
#                       the tests that take longest, ten times as many random stages, and all rows of growth
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
# SINEW_MESA=FILE       a program that runs another one on a newer Mesa, whose software driver has ray queries; without it this
#                       script makes one of Debian's packages, and where it cannot, its tests show as ignored
# SINEW_PAGE=FOLDER     the viewer's page (examples/viewer/web/build.sh makes one), which is opened in Chromium; `build` makes
#                       one in 7 to 16 minutes of CPU time; without it its test shows as ignored
# SINEW_NO_DISPLAY=1    leave out the viewer's window, which is opened in Xvfb (its tests show as ignored)
# SINEW_SEEDS=7..90     run these seeds of the differential test
# MESA_SHADER_CACHE_DIR=FOLDER  where Mesa keeps compiled shaders; without it target/mesa
set -euo pipefail
cd "$(dirname "$0")/.."

all=
if [ "${1:-}" = --all ]; then
    all=1
    shift
    export SINEW_ALL=1
fi
target="${CARGO_TARGET_DIR:-target}"
# Most of a test on a software GPU is the compiling of its shaders, which Mesa keeps.
mkdir -p "$target/mesa"
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-$(cd "$target/mesa" && pwd)}"

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

if [ -n "$all" ] && [ -z "${SINEW_NO_GPU:-}${SINEW_NO_DISPLAY:-}" ] && [ "$(uname)" = Linux ] && ! have_display; then
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

# The viewer's page, and the browser that opens it.
if [ "${SINEW_PAGE:-}" = build ]; then
    unset SINEW_PAGE
    have_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
    if ! have_browser >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing a browser (chromium)" >&2
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || true
    fi
    if command -v rustup >/dev/null && ! rustup target list --installed | grep -q wasm32-unknown-unknown; then
        echo "installing Rust for wasm32 (wasm32-unknown-unknown)" >&2
        rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || true
    fi
    page="$target/page"
    if ! have_browser >/dev/null; then
        echo "without Chromium the viewer's page is not tested (its test shows as ignored)" >&2
    elif examples/viewer/web/build.sh --quick "$page" >&2; then
        SINEW_PAGE="$(cd "$page" && pwd)"
        export SINEW_PAGE
    elif [ -e target/web/ready ]; then
        exit 1
    else
        echo "without a Rust for wasm32 the viewer's page is not tested (its test shows as ignored)" >&2
    fi
fi

# SwiftShader, a second implementation of Vulkan that runs on the CPU.
if [ -n "$all" ] && [ -z "${SINEW_SWIFTSHADER:-}" ] && [ "${SINEW_NO_GPU:-}" != 1 ]; then
    swiftshader="$target/swiftshader"
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

# A newer Mesa, whose software driver traces rays, with the libraries that it was built for: half a minute and 300 MB.
# Programs run on it by its own loader, so nothing is installed.
if [ -n "$all" ] && [ -z "${SINEW_MESA:-}" ] && [ "${SINEW_NO_GPU:-}" != 1 ]; then
    mesa="$target/forky"
    if [ ! -e "$mesa/run" ]; then
        echo "fetching a newer Mesa (mesa-vulkan-drivers of Debian forky) into $mesa" >&2
        tests/fetch_mesa.sh "$mesa" || true
    fi
    if [ -e "$mesa/run" ]; then
        SINEW_MESA="$(cd "$mesa" && pwd)/run"
        export SINEW_MESA
    else
        echo "without a newer Mesa nothing is traced (those tests show as ignored)" >&2
    fi
fi

# What runs shards of a bake beside each other.
if [ -n "$all" ] && ! command -v parallel >/dev/null && [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing GNU parallel (parallel)" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq parallel >/dev/null; } || true
fi

# Slurm, of which a test starts a cluster of one node. No service of the system is used.
if [ -n "$all" ] && ! PATH="$PATH:/usr/sbin" command -v slurmctld >/dev/null && [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] &&
    command -v apt-get >/dev/null; then
    packages=(munge slurmctld slurmd slurm-client)
    echo "installing Slurm (${packages[*]})" >&2
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" \
        >/dev/null; } || echo "without Slurm its test is left out (it shows as ignored)" >&2
fi

# Pixar's usd-core, for the differential test and the real files.
if [ -z "${SINEW_PYTHON:-}" ]; then
    venv="$target/venv"
    has_usd() { "$venv/bin/python" -c 'import numpy; from pxr import Usd; assert Usd.GetVersion() == (0, 26, 11)' 2>/dev/null; }
    if ! has_usd; then
        echo "installing usd-core 26.11 into $venv" >&2
        { python3 -m venv --clear "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check \
            --retries 1 --timeout 20 usd-core==26.11 numpy; } || true
    fi
    if has_usd; then
        SINEW_PYTHON="$(cd "$venv/bin" && pwd)/python"
        export SINEW_PYTHON
    elif [ -n "${SINEW_ASSETS:-}" ]; then
        echo "SINEW_ASSETS: real files are compared with usd-core 26.11, which could not be installed" >&2
        exit 1
    else
        echo "without usd-core 26.11 the differential test is left out (it shows as ignored)" >&2
    fi
    if [ -n "$all" ] && [ -n "${SINEW_PYTHON:-}" ]; then
        # What builds and tests the Python package; without it its tests show as ignored.
        wanted=crates/sinew-python/tests/requirements.txt
        cmp -s "$wanted" "$venv/package-requirements.txt" || { echo "installing $wanted into $venv" >&2 && "$venv/bin/pip" \
            install --quiet --disable-pip-version-check --retries 1 --timeout 20 --requirement "$wanted" &&
            cp "$wanted" "$venv/package-requirements.txt"; } || true
        # What farms need beside it; without it the tests of their manifests and of Dask show as ignored.
        has_farms() { "$SINEW_PYTHON" -c 'import distributed, kubernetes_validate, outline' 2>/dev/null; }
        has_farms || { echo "installing tests/farm/requirements.txt into $venv" >&2 && "$venv/bin/pip" install --quiet \
            --disable-pip-version-check --retries 1 --timeout 20 --requirement tests/farm/requirements.txt; } || true
    fi
fi

# The validator of Khronos and three.js, for the glTF files that the command writes.
if [ -z "${SINEW_NODE:-}" ]; then
    node="$target/node"
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

# The long ones: the kernels once more with WebGPU's default limits, files that are made to exhaust a reader, bakes that
# are killed again and again, memory of long bakes, what USD has through every command, every command on every broken stage,
# the commands of the pages, and pictures by options of the command.
long=(default_limits:: hostile:: resume:: memory_does_not_grow survive:: commands_end_as_check_says commands_run
    commands_that_draw_run pictures_are_those_of_the_commands runs::pictures)
packages=() skipped=()
if [ -n "$all" ]; then
    packages=(--workspace --no-fail-fast)
    # Unless the arguments choose packages.
    for argument in "$@"; do
        case "$argument" in -p* | --package*) packages=() ;; esac
    done
else
    case " $* " in *" -- "*) ;; *) skipped=(--) ;; esac
    for name in "${long[@]}"; do skipped+=(--skip "$name"); done
    echo "left out (tests/run.sh --all runs them): ${long[*]}" >&2
fi

exec cargo test --locked ${packages[@]+"${packages[@]}"} "$@" ${skipped[@]+"${skipped[@]}"}
