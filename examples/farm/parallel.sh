#!/usr/bin/env bash
# Bakes IN into OUT in shards that GNU parallel runs, and stitches them:
#
#   examples/farm/parallel.sh IN OUT.usdc CLIP_FRAMES SHARDS [options of sinew bake]
#
# JOBS     how many run at a time (2)
# SSHLOGIN machines for parallel's --sshlogin, which see the same disk; this one where it is not set
# SINEW    the command (sinew)
set -euo pipefail
if [ $# -lt 4 ]; then
    echo "usage: parallel.sh IN OUT.usdc CLIP_FRAMES SHARDS [options of sinew bake]" >&2
    exit 2
fi
in=$1 out=$2 clip_frames=$3 shards=$4
shift 4
bake=("${SINEW:-sinew}" bake "$in" -o "$out" --clip-frames "$clip_frames" "$@")

# A shard that fails is tried once more, and keeps what it had finished.
parallel --quote --retries 2 --jobs "${JOBS:-2}" ${SSHLOGIN:+--sshlogin "$SSHLOGIN"} \
    "${bake[@]}" --resume --shard "{}/$shards" --quiet ::: $(seq "$shards")

# The backend is the clips' own.
stitch=()
while [ $# -gt 0 ]; do
    case $1 in
        --backend | --adapter) shift 2 ;;
        --backend=* | --adapter=*) shift ;;
        *) stitch+=("$1"); shift ;;
    esac
done
exec "${SINEW:-sinew}" bake "$in" -o "$out" --clip-frames "$clip_frames" ${stitch[@]+"${stitch[@]}"} --stitch
