#!/usr/bin/env bash
# Builds bevy_sinew and runs its tests. They need a GPU or a software Vulkan driver.
#
#   crates/bevy_sinew/test.sh [arguments of cargo test]
#   crates/bevy_sinew/test.sh lint      cargo fmt --check and clippy, as .ci/run does for the others
#
# CARGO_TARGET_DIR=FOLDER  where to build: about 3 GB; target in this folder if it is not set
# SINEW_PICTURES=FOLDER    keep the pictures that the tests draw there
set -euo pipefail
cd "$(dirname "$0")"

# Mesa's device-select layer complains about a missing Wayland for every instance otherwise.
[ -n "${XDG_RUNTIME_DIR:-}${WAYLAND_DISPLAY:-}" ] || export NODEVICE_SELECT=1

# bevy 0.20.1 names Rust 1.97, and builds with 1.95.
if [ "${1:-}" = lint ]; then
    cargo fmt --check
    exec cargo clippy --locked --ignore-rust-version --all-targets -- -D warnings
fi
cargo test --locked --ignore-rust-version "$@"
