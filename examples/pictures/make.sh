#!/bin/sh
# Makes the pictures of this folder again, from the example files: the moving picture and the viewer's screenshot of the README,
# and those of the commands of docs/render.md and docs/retarget.md. Needs a display or xvfb-run for the screenshot.
set -eu
cd "$(dirname "$0")/../.."
pictures=examples/pictures
trap 'rm -f "$pictures/puppet.usda" "$pictures/walking.usda" "$pictures/lying.usda"' EXIT
hatchling=examples/assets/hatchling.usda
cargo sinew render $hatchling -o $pictures/hatchling.png --time 53 --size 440x400
cargo sinew render $hatchling -o $pictures/clip.png --sheet 6x2 --size 840x280 --background white --no-grid --pitch 6
cargo sinew render $hatchling -o $pictures/weights.png --time 53 --size 440x400 --heat head --joints --background white
walk="examples/assets/walk.bvh examples/assets/puppet.glb"
cargo sinew retarget $walk -o $pictures/walking.usda --quiet
cargo sinew render $pictures/walking.usda -o $pictures/landed.png --sheet 6x1 --size 840x200 --background white --pitch 6
cargo sinew retarget $walk -o $pictures/lying.usda --up Z --quiet
cargo sinew render $pictures/lying.usda -o $pictures/laid.png --sheet 6x1 --size 840x200 --background white --pitch 6
cargo sinew retarget $hatchling examples/assets/puppet.glb -o $pictures/puppet.usda --quiet
# From one pose of the dance to the next one that is like it.
cargo sinew render $pictures/troupe.usda -o $pictures/troupe.gif --frames 41:87:2 --fps 12 --size 720x360 --yaw 0 --pitch 8 --zoom 1.06
screen=
[ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || screen="xvfb-run -a"
printf 'settle\ntime 53\nkey j\nsettle\nshot %s\n' "$pictures/viewer.png" |
    $screen cargo run --release -p sinew-viewer -- $hatchling --size 1100x660 --script -
