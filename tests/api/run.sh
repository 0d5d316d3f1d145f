#!/usr/bin/env bash
# Writes the public items of the crates that other programs build on into tests/api/*.txt, so that a review shows what a
# change adds, removes or breaks. With --check it changes no file, and fails if one is out of date.
#
# The form of the items depends on the version of rustdoc: run it with the one that the project is developed with, 1.95.
set -euo pipefail
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-target}"
new="$(mktemp)"
trap 'rm -f "$new"' EXIT
changed=
crates=(sinew sinew-character sinew-stage)
# The Python package and its feature are named for what they ask of other crates: those are built already in .ci/lint.
RUSTDOC="$PWD/tests/api/rustdoc" RUSTDOCFLAGS="-Z unstable-options --output-format json" \
    cargo doc --locked --quiet --no-deps --lib "${crates[@]/#/-p}" -p sinew-python --features sinew-python/as-tested
for crate in "${crates[@]}"; do
    CARGO_TARGET_DIR="$target/api" cargo run --locked --quiet --manifest-path tests/api/Cargo.toml -- \
        "$target/doc/${crate//-/_}.json" > "$new"
    if [ "${1:-}" != --check ]; then
        cp "$new" "tests/api/$crate.txt"
    elif ! diff -u "tests/api/$crate.txt" "$new"; then
        changed=1
    fi
done
if [ -n "$changed" ]; then
    echo "the public API has changed: run tests/api/run.sh, and look at the difference" >&2
    exit 1
fi
