#!/bin/bash
# A Slurm cluster of one node on this machine: an array of examples/farm/slurm.sbatch, the stitch that waits for it, and a task
# that is cancelled and queued again in the middle of its shard, of which no finished clip is baked again.
#
#   SINEW=COMMAND IN=FILE OUT=FARM/shot.usdc slurm_cluster.sh FOLDER
#
# Debian's packages munge, slurmctld, slurmd and slurm-client have the programs. Nothing of a system's Slurm is used.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"
here=$(cd "$(dirname "$0")" && pwd)
script=$here/../../examples/farm/slurm.sbatch
folder=$1
cluster=$(mktemp -d)
daemons=()

stop() {
    code=$?
    [ $code = 0 ] || tail -n 10 "$cluster"/*.log "$cluster"/*.out "$folder"/logs/*.log >&2 || true
    scancel -f -u "$(id -un)" || true
    for _ in $(seq 200); do
        [ -n "$(squeue -h)" ] || break
        sleep 0.05
    done
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
        kill -TERM "${daemons[i]}" || true
        for _ in $(seq 200); do kill -0 "${daemons[i]}" && sleep 0.025 || break; done
        kill -KILL "${daemons[i]}" || true
    done 2>/dev/null
    rm -rf "$cluster"
}
trap stop EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# Waits until a command succeeds.
await() {
    local what=$1
    shift
    for _ in $(seq 30000); do
        "$@" && return
        for daemon in "${daemons[@]}"; do kill -0 "$daemon" || fail "a daemon ended"; done
        sleep 0.02
    done
    fail "no $what"
}

# A port that is free now; another process may take it before it is used, and then the test says that a daemon ended.
port() {
    local port
    while port=$((RANDOM % 20000 + 20000)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

daemon() {
    "$@" >"$cluster/$1.out" 2>&1 </dev/null &
    daemons+=($!)
}

mkdir "$cluster/spool" "$cluster/state" "$folder/bin" "$folder/logs"
host=$(hostname -s)
# Without cgroups, which a container does not have. A task that is queued again begins when its old credential has expired.
cat >"$cluster/slurm.conf" <<TEXT
ClusterName=sinew
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$(port)
SlurmdPort=$(port)
AuthInfo=socket=$cluster/munge.sock,cred_expire=5
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
KillWait=2
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=65536
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
TEXT
export SLURM_CONF=$cluster/slurm.conf
mungekey --create --keyfile="$cluster/munge.key"
# --force: the folder of temporary files is everybody's.
daemon munged --foreground --force --socket="$cluster/munge.sock" --key-file="$cluster/munge.key" \
    --pid-file="$cluster/munged.pid" --log-file="$cluster/munged.log" --seed-file="$cluster/munge.seed"
await munge test -e "$cluster/munge.sock"
daemon slurmctld -D -i
daemon slurmd -D
is_idle() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }
await node is_idle

# 48 clips: a shard of four has enough of them to be lost in the middle.
export CLIP_FRAMES=20 SHARDS=4 BENCH=$folder
clips=${OUT%.usdc}_clips
export FIRST=$clips/shot.0013.usdc
cp "$here/worker.sh" "$folder/bin/sinew"
submit() { sbatch --parsable --chdir "$folder/logs" "$@" "$script" --frames 1:96:0.1; }
array=$(PATH="$folder/bin:$PATH" submit --array=1-4)
stitch=$(PATH="$(dirname "$SINEW"):$PATH" submit "--dependency=afterok:$array" --array=0)
await "first clip of shard 2" test -e "$folder/held"
# The times of the shard's clips, read while the task stands still: Slurm may start it again at once.
finished() { (cd "$clips" && stat -c '%n %y' shot.001[3-9].usdc shot.002[0-4].usdc 2>/dev/null) || true; }
before=$(finished)
lost=$(wc -l <<<"$before")
((lost >= 1 && lost < 12)) || fail "lost in the middle: $lost"
state() { squeue -h -t all -o %T -j "$1"; }
[ "$(state "${array}_2")" = RUNNING ] || fail "the task does not run: $(state "${array}_2")"
scontrol requeue "${array}_2"
is_done() {
    case "$(state "${stitch}_0")" in
        COMPLETED) ;;
        *FAILED*) fail "the stitch failed" ;;
        *) return 1 ;;
    esac
}
await "end of the stitch" is_done
[ "$(finished | grep -cxF "$before")" = "$lost" ] || fail "a finished clip was baked again"
# Slurm continues a task before it ends it, and what the task had begun by then is finished too: it may keep more.
kept=$(sed -n 's/.*baked, \([0-9]*\) kept.*/\1/p' "$folder/logs/sinew-bake-${array}_2.log")
((kept >= lost)) || fail "the task did not keep $lost clips: $kept"
