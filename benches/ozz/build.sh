#!/usr/bin/env bash
# Builds ozz-animation's own CPU skinning into programs that the suite times beside sinew. Nothing of ozz is in this
# repository: the script fetches its sources (MIT licence) at one commit.
#
#   benches/ozz/build.sh [FOLDER]      programs in FOLDER (target/ozz); needs git and g++ (or CXX), no cmake
#   SINEW_OZZ=target/ozz cargo bench --bench suite
#
# OZZ_SOURCE=REPOSITORY takes them from a local clone. The flags are those of upstream's Release build (-O3 -DNDEBUG, SSE2);
# skinning_time_avx2 has -mavx2 -mfma besides, which upstream leaves to whoever builds it.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="${1:-${CARGO_TARGET_DIR:-target}/ozz}"
commit=6cbdc790123aa4731d82e255df187b3a8a808256 # 0.16.0
mkdir -p "$folder/source"
repository="${OZZ_SOURCE:-$folder/repository}"
if [ -z "${OZZ_SOURCE:-}" ]; then
    git init -q --bare "$repository"
    git -C "$repository" cat-file -e "$commit^{commit}" 2>/dev/null ||
        git -C "$repository" fetch -q --depth 1 https://github.com/guillaumeblanc/ozz-animation "$commit"
fi
git -C "$repository" archive "$commit" include src/geometry LICENSE.md | tar -x -C "$folder/source"
build() { # NAME FLAGS...
    local name="$1"
    shift
    "${CXX:-g++}" -std=c++17 -O3 -DNDEBUG "$@" -I "$folder/source/include" benches/ozz/skinning_time.cc \
        "$folder/source/src/geometry/runtime/skinning_job.cc" -static-libstdc++ -static-libgcc -o "$folder/$name"
}
build skinning_time
if [ "$(uname -m)" = x86_64 ]; then build skinning_time_avx2 -mavx2 -mfma; fi
echo "SINEW_OZZ=$(cd "$folder" && pwd)"
