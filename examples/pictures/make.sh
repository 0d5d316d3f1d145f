#!/bin/sh
# Makes the moving picture and the viewer's screenshot of the README again, from the example files. The other pictures of this
# folder are those of the commands of docs/render.md and docs/retarget.md. Needs a display or xvfb-run for the screenshot.
set -eu
cd "$(dirname "$0")/../.."
pictures=examples/pictures
trap 'rm -f "$pictures/puppet.usda"' EXIT
cargo sinew retarget examples/assets/hatchling.usda examples/assets/puppet.glb -o $pictures/puppet.usda --quiet
# From one pose of the dance to the next one that is like it.
cargo sinew render $pictures/troupe.usda -o $pictures/troupe.gif --frames 41:87:2 --fps 12 --size 720x360 --yaw 0 --pitch 8 --zoom 1.06
screen=
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || screen="xvfb-run -a"
printf 'settle\ntime 53\nkey j\nsettle\nshot %s\n' "$pictures/viewer.png" |
    $screen cargo run --release -p sinew-viewer -- examples/assets/hatchling.usda --size 1100x660 --script -
