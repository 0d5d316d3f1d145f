#!/usr/bin/env bash
# Fetches the real files that tests read: those that are public, each by repository, commit and hash.
#
#   tests/fetch_assets.sh [FOLDER]     (target/assets when it is not given)
#   SINEW_ASSETS=FOLDER tests/run.sh
#
# tests/assets.tsv lists the files. Files that are already there with the right hash are kept, so a
# run that was cut short can be repeated. Exits 1 if a file could not be fetched or has another hash.
#
# SINEW_ASSETS_BASE=URL   fetch URL/OWNER/NAME/COMMIT/PATH (https://raw.githubusercontent.com when it
#                         is not given; file:///FOLDER works too)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${1:-$here/../target/assets}"
base="${SINEW_ASSETS_BASE:-https://raw.githubusercontent.com}"
case "$folder" in -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac

if command -v sha256sum >/dev/null; then sum=(sha256sum); else sum=(shasum -a 256); fi
has_hash() {
    [ -f "$1" ] || return 1
    local found
    found="$("${sum[@]}" <"$1")"
    [ "${found%% *}" = "$2" ]
}

rows="$(grep -v -e '^#' -e '^repository' "$here/assets.tsv")"
mkdir -p "$folder"
transfers="$(mktemp)"
trap 'rm -f "$transfers"' EXIT

there=0 wanted=0 in_house=0
while IFS=$'\t' read -r repository commit path local hash; do
    if has_hash "$folder/$local" "$hash"; then
        there=$((there + 1))
    elif [ "$repository" = in-house ]; then
        in_house=$((in_house + 1))
    else
        wanted=$((wanted + 1))
        rm -f "$folder/$local.part"
        printf 'url = "%s"\noutput = "%s"\n' "$base/$repository/$commit/$path" "$folder/$local.part" >>"$transfers"
    fi
done <<<"$rows"

if [ "$wanted" -gt 0 ]; then
    echo "fetching $wanted files from $base" >&2
    # One curl for all, so that they share a connection. Which of them failed is seen below.
    curl --silent --show-error --fail --location --globoff --create-dirs \
        --connect-timeout 20 --retry 3 --config "$transfers" || true
fi

failed=0
while IFS=$'\t' read -r repository commit path local hash; do
    if [ "$repository" = in-house ] || has_hash "$folder/$local" "$hash"; then
        continue
    elif has_hash "$folder/$local.part" "$hash"; then
        mv "$folder/$local.part" "$folder/$local"
        continue
    fi
    failed=$((failed + 1))
    if [ -f "$folder/$local.part" ]; then
        rm -f "$folder/$local.part"
        echo "$local: $base/$repository/$commit/$path does not have the SHA-256 $hash" >&2
    else
        echo "$local: $base/$repository/$commit/$path could not be fetched" >&2
    fi
    # A file that is not the listed one must not be tested as if it were.
    rm -f "$folder/$local"
done <<<"$rows"

echo "$folder: $there files were there, $((wanted - failed)) fetched, $failed failed" >&2
if [ "$in_house" -gt 0 ]; then
    echo "$in_house files are made in house and not published: the tests that need them are ignored" >&2
fi
[ "$failed" = 0 ]
