#!/bin/bash
# test_compose.sh - the hospitals federation in containers, with disturbances: an agent stopped for a
# while, another cut off the network and back, the coordinator killed in the middle of the job. The job
# ends, every round that closed is counted once, and nobody is charged more than the job costs. Skipped
# (77) where no container engine answers; .ci/run starts one.
#
# The image is built, keys are made and shares dealt out by compose/hospitals/up, beside a federation that
# may be running here already.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
if ! command -v docker >/dev/null || ! docker info >/dev/null 2>&1; then
    echo 'skipped: no container engine answers (scripts/install compose, then start dockerd; .ci/run does)'
    exit 77
fi
if ! docker compose version >/dev/null 2>&1 && ! command -v docker-compose >/dev/null; then
    echo "skipped: neither 'docker compose' nor docker-compose is installed (scripts/install compose)"
    exit 77
fi

work=$(mktemp -d)
export HEDGEROW_PROJECT=hedgerow-test-$$
export HEDGEROW_STATE=$work/state
export HEDGEROW_IMAGE=hedgerow-test
rounds=40 # of the stage `fit`, one a lambda, whose answers wait for slots: long enough for all that happens to it

container() { docker ps --all --quiet --filter "label=com.docker.compose.project=$HEDGEROW_PROJECT" \
    --filter "label=com.docker.compose.service=$1"; }
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

finish() {
    local status=$?
    if [ $status -ne 0 ] && [ $status -ne 77 ]; then
        for service in coordinator hospital-{1..5}; do
            printf -- '---- the end of the log of %s\n' "$service"
            docker logs --tail 15 "$(container "$service")" 2>&1 || true
        done
    fi
    "$root/compose/hospitals/up" --down || true
    rm -rf "$work"
}
trap finish EXIT

die() {
    say "FAILED: $*"
    exit 1
}

# await SECONDS WHAT COMMAND...: asks every quarter second until the command succeeds.
await() {
    local left=$(($1 * 4)) what=$2
    shift 2
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "waited in vain for: $what"
        sleep 0.25
    done
    say "$what"
}

# Lines "round agents", one for each round that the coordinator says it closed.
closed() {
    docker logs "$(container coordinator)" 2>&1 |
        sed -n '/"round-closed"/s/.*"round":\([0-9]*\),.*"agents":\([0-9]*\),.*/\1 \2/p'
}
last_closed() { closed | tail -n 1 | cut -d ' ' -f 1; }
closed_with() { closed | awk -v from="$1" -v agents="$2" \
    '$1 > from && $2 == agents { found = 1 } END { exit !found }'; }
healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' "$(container "$1")")" = healthy ]; }
all_healthy() { for service in coordinator hospital-{1..5}; do healthy "$service" || return 1; done; }
beyond() { [ "$(last_closed || true)" -gt "$1" ] 2>/dev/null; }
ended() { [ "$(docker inspect --format '{{.State.Status}}' "$(container "$1")")" = exited ]; }

# The job of the hospitals, in more and shorter rounds: a deadline that an absent agent does not make long.
lambdas=$(seq -s ', ' -f '%.3f' 0.005 0.001 "$(awk -v n=$rounds 'BEGIN { print 0.0045 + n / 1000 }')")
sed -e "s/^\( *lambdas:\).*/\1 [$lambdas]/" -e '/^ *experts:/d' -e 's/^\( *rounds:\) *[0-9]*/\1 1/' \
    -e 's/^\( *batch:\) *[0-9]*/\1 20/' \
    -e 's/^\( *deadline_s:\) *[0-9]*/\1 8/' -e 's/^\( *join_deadline_s:\) *[0-9]*/\1 120/' \
    "$root/compose/hospitals/fit.yml" >"$work/job.yml"

"$root/compose/hospitals/up" --detach --slot-ms 1000 --job "$work/job.yml"
say 'the federation is up'

# What the compose file promises about each container.
for service in coordinator hospital-{1..5}; do
    found=$(docker inspect --format '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.Config.User}}
{{.HostConfig.SecurityOpt}} {{len .Mounts}} {{gt .HostConfig.Memory 0}}' "$(container "$service")" | tr '\n' ' ')
    [ "$found" = 'true [ALL] hedgerow [no-new-privileges:true] 2 true ' ] ||
        die "$service runs with other rights than it should: $found"
done
await 240 'all six are healthy' all_healthy
await 240 'the first rounds are closed' beyond 2

docker stop --time 60 "$(container hospital-5)" >/dev/null
code=$(docker inspect --format '{{.State.ExitCode}}' "$(container hospital-5)")
[ "$code" -eq 0 ] || [ "$code" -eq 130 ] || die "hospital-5 was stopped, and ended with $code"
say 'hospital-5 is stopped'
await 120 'a round closed without it' closed_with "$(last_closed)" 4

network=${HEDGEROW_PROJECT}_federation
docker network disconnect "$network" "$(container hospital-4)"
say 'hospital-4 is cut off'
await 120 'a round closed without both' closed_with "$(last_closed)" 3
await 120 'and another' closed_with "$(last_closed)" 3
docker network connect "$network" "$(container hospital-4)"
docker start "$(container hospital-5)" >/dev/null
say 'both are let back'
await 240 'a round closed with all five again' closed_with "$(last_closed)" 5

before=$(last_closed)
docker kill --signal KILL "$(container coordinator)" >/dev/null
docker start "$(container coordinator)" >/dev/null
say "the coordinator is killed after round $before, and started again"
[ "$before" -lt "$rounds" ] || die 'the job was over too early to be disturbed'
await 240 'rounds go on with all five' closed_with "$before" 5
before=$(last_closed)
docker restart --time 60 "$(container coordinator)" >/dev/null
say "the coordinator is restarted after round $before"
[ "$before" -lt "$rounds" ] || die 'the job was over too early to be disturbed'

await 720 'the coordinator has ended' ended coordinator
for agent in hospital-{1..5}; do
    await 120 "$agent has ended" ended "$agent"
done
for service in coordinator hospital-{1..5}; do
    code=$(docker inspect --format '{{.State.ExitCode}}' "$(container "$service")")
    [ "$code" -eq 0 ] || die "$service ended with $code"
done
docker cp "$(container coordinator):/var/lib/hedgerow/out/." "$work/" >/dev/null
for agent in hospital-{1..5}; do
    docker run --rm --network none --volumes-from "$(container "$agent")" "$HEDGEROW_IMAGE" \
        hedgerow-agent ledger --config /etc/hedgerow/agent.yml --json >"$work/ledger-$agent.json"
done
python3 "$here/check_result.py" "$work" $((rounds + 1)) ||
    die 'the result is not what it should be'
say 'the result and the ledgers agree'
