#!/bin/bash
# A `sinew` that loses the first task which has shard 2: when that has its first clip ($FIRST), it stops until somebody ends
# it, and says so by the file $BENCH/held. Its bake leaves the processors to whoever waits for that clip.
set -u
if [[ "$*" = *"--shard 2/"* ]] && mkdir "$BENCH/lost" 2>/dev/null; then
    nice -n 5 "$SINEW" "$@" &
    child=$!
    until [ -e "$FIRST" ]; do
        kill -0 $child || exit 1
        sleep 0.002
    done
    kill -STOP $child
    until grep -q '^State:.*stopped' /proc/$child/status; do
        kill -0 $child || exit 1
        sleep 0.002
    done
    touch "$BENCH/held"
    wait $child
else
    exec "$SINEW" "$@"
fi
