# shellcheck shell=bash disable=SC2034
# operators.sh - what the tests of operators share: a coordinator and two sites, their settings, records, policies and keys.
. "$(dirname "$0")/../cli/common.sh"
agent=$programs/hedgerow-agent
coordinator=$programs/hedgerow-coordinator
started=()
trap 'kill -TERM "${started[@]}" 2>/dev/null; wait; rm -rf "$work"' EXIT
# An address of this test alone: no other program takes its port between two commands.
address=tcp://127.$((200 + $$ / 65536 % 50)).$(($$ / 256 % 256)).$(($$ % 256)):7310

# fits_80: no line of what was printed is wider than a terminal, but for one long word.
fits_80() {
    local wide
    wide=$(awk 'length > 80 && $NF != substr($0, 22)' "$work/out")
    [ -z "$wide" ] || fault "wider than 80 columns: $wide"
}

# A value that is in one record, inside the public bounds, and nowhere else.
canary=61.2340917
records() { # FIRST LAST
    head -n 1 "$root/compose/hospitals/flchain.csv"
    sed -n "$1,$2p" "$root/compose/hospitals/flchain.csv"
}
mkdir "$work/office" "$work/one" "$work/two"
sed -e 's/minimum: 3 /minimum: 2 /; s/join_deadline_s: 60/join_deadline_s: 600/; s/rounds: 6/rounds: 2/' \
    "$job" >"$work/office/job.yml"
records 2 3001 | sed "9s/^[^,]*,/$canary,/" >"$work/one/records.csv"
records 3002 7001 >"$work/two/records.csv"
grep -qF "$canary" "$work/one/records.csv" || fault 'the canary is not in its cage'
cat >"$work/office/coordinator.yml" <<YAML
hedgerow: 1
listen: "$address"
key: coordinator
agents: agents
state: state
job: job.yml
out: state/out
linger_s: 60
YAML
for site in one two; do
    cp "$work/office/job.yml" "$work/$site/approved-job.yml"
    cat >"$work/$site/agent.yml" <<YAML
hedgerow: 1
coordinator: {address: "$address", public_key: coordinator.pub}
key: site
state: state
data: records.csv
dictionary: data.yml
policy: policy.yml
job: approved-job.yml
heartbeat_s: 0.5
YAML
    [ $site = one ] || sed -i '/^job:/d' "$work/$site/agent.yml" # any job that a person approves
    cat >"$work/$site/policy.yml" <<YAML
hedgerow: 1
epsilon: 1.5
delta: 0
cohort_minimum: 2
tasks: [fit, losses]
trust: [local]
message_mb_max: 64
answer_slot_ms: 1000
YAML
done
cd "$work" || exit 1

# Every program that is started is stopped at the end.
start() { # LOG COMMAND...
    local log=$1
    shift
    "$@" >"$log" 2>&1 &
    started+=($!)
}

wait_for() { # WORD FILE
    for _ in $(seq 300); do grep -q "$1" "$2" && return || sleep 0.1; done
    fault "$2 never says $1"
}

# A file that says what a program may do is refused if others can write it. The message has the
# chmod.
open_to_others() { # FILE COMMAND...
    local file=$1
    shift
    chmod g+w "$file"
    expect 3 "$@"
    prints "chmod go-w $file"
    chmod g-w "$file"
}

# A dictionary of each site, drafted from its records, and keys.
prepare() {
    local name
    for name in one two; do
        expect 0 "$agent" describe $name/records.csv
        cp "$work/out" $name/data.yml
    done
    for name in office/coordinator one/site two/site; do expect 0 "$hedgerow" keygen --out "$name"; done
    for name in one two; do cp -f office/coordinator.pub $name/; done
}
