#!/bin/bash -eu
# Builds all targets for OSS-Fuzz, with their seeds and dictionaries. Its machine sets SRC, OUT, RUSTFLAGS and the compilers.

cd "$SRC/sinew"
triple=$(rustc -vV | sed -n 's/^host: //p')
cargo fuzz build -O --debug-assertions ${FUZZ_FLAGS:-}
built=${CARGO_TARGET_DIR:-fuzz/target}/$triple/release
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "$built/$target" "$OUT/"
    zip -jq "$OUT/${target}_seed_corpus.zip" "fuzz/seeds/$target"/*
    printf '[libfuzzer]\nrss_limit_mb = 1024\ntimeout = 5\nmax_len = 65536\n' > "$OUT/$target.options"
    # Round trips have the words of what they read, stages and scenes those of usda.
    case $target in
        usdc*|usdz) words=usdc ;;
        usda*|stage|scene) words=usda ;;
        *) words=$target ;;
    esac
    if [ -f "fuzz/dictionaries/$words.dict" ]; then
        cp "fuzz/dictionaries/$words.dict" "$OUT/$target.dict"
    fi
done
