#!/usr/bin/env bash
# Unpacks Mesa's Vulkan drivers of Debian forky and all libraries that they need, and writes a program that runs others on
# its software driver. It needs Debian on x86-64 and the network. Nothing is installed, and root is not needed.
#
#   tests/fetch_mesa.sh FOLDER
#   FOLDER/run PROGRAM ARGUMENTS
set -euo pipefail
# shellcheck source=tests/forky.sh
. "$(dirname "$0")/forky.sh"
[ $# = 1 ] || refuse "expected a folder: tests/fetch_mesa.sh FOLDER"
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
rm -f "$folder/run"
unpack_forky "$folder" mesa-vulkan-drivers libvulkan1
[ -e "$folder/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so" ] || refuse "mesa-vulkan-drivers has no software driver"
cat >"$folder/run" <<'TEXT'
#!/bin/sh
# Runs a program on this Mesa's software driver.
here="$(cd "$(dirname "$0")" && pwd)"
libraries="$here/usr/lib/x86_64-linux-gnu"
export VK_DRIVER_FILES="$here/usr/share/vulkan/icd.d/lvp_icd.json" NODEVICE_SELECT=1
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$@"
TEXT
chmod +x "$folder/run"
