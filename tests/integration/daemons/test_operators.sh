#!/bin/bash
# What docs/REFERENCE and docs/WATCHING tell the operators of a coordinator and of two sites to do, and what they do wrong:
# each message names the file and the remedy, each exit code is the documented one, a log that is no
# terminal is JSON to its last line, and no value of a record is in anything that anybody prints or keeps.
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

# The data dictionary: drafted for a person, who alone is told how many records there are.
for site in one two; do
    expect 0 "$agent" describe $site/records.csv
    cp "$work/out" $site/data.yml
done
says 'two/records.csv has 4000 records'
expect 0 "$agent" describe <(head -n 2988 one/records.csv)
prints '- records: 2900'
says 'has 2987 records'
grep -q 2987 "$work/out" && fault 'the draft says exactly how many records there are'
expect 2 "$agent" describe
says 'DATA.csv is missing'
expect 3 "$agent" describe nowhere.csv

# The command line: a command, its own options, nothing else.
for program in "$agent" "$coordinator"; do
    expect 0 "$program" --help
    prints 'Exit codes:'
    expect 0 "$program" --version
    expect 2 "$program"
    expect 2 "$program" nonsense
    expect 2 "$program" run
    says '--config FILE is missing'
    expect 2 "$program" run --config x --config y
    expect 2 "$program" check --config x --json
    says '--json'
    expect 3 "$program" run --config nowhere.yml
    says 'nowhere.yml'
done
# A word a slip or two away from a known one gets that one proposed.
expect 2 "$agent" chekc
says 'did you mean "check"?'
expect 2 "$agent" describe records.csv --separator semicolom
says 'did you mean "semicolon"?'
expect 2 "$coordinator" enroll
says 'did you mean "enrol"?'
expect 2 "$coordinator" agents ad one
says 'did you mean "add"?'
expect 2 "$hedgerow" audit laplce
says 'did you mean "laplace"?'
expect 2 "$agent" check --config one/agent.yml --timeout 0
expect 2 "$agent" enrol --config one/agent.yml
says '--token FILE is missing'
expect 2 "$coordinator" agents add one --config office/coordinator.yml
expect 2 "$coordinator" agents add 'a name' --key 00 --config office/coordinator.yml

# Files to begin with: both programs read them, and they are never written over.
expect 0 "$agent" init fresh
prints 'wrote fresh/agent.yml'
prints 'hedgerow-agent check'
expect 3 "$agent" check --config fresh/agent.yml --timeout 1
prints 'settings     PASSED'
prints 'policy       PASSED'
echo '# mine' >>fresh/policy.yml
rm fresh/agent.yml
expect 7 "$agent" init fresh
says 'fresh/policy.yml exists already'
[ ! -e fresh/agent.yml ] && grep -q '# mine' fresh/policy.yml || fault 'init wrote beside or over a file'
expect 0 "$coordinator" init fresh
expect 3 "$coordinator" check --config fresh/coordinator.yml
prints 'settings     PASSED'
expect 7 "$coordinator" init fresh

# Keys: made here, never replaced, neither half taken for the other.
for key in office/coordinator one/site two/site; do expect 0 "$hedgerow" keygen --out "$key"; done
expect 7 "$hedgerow" keygen --out one/site
says "exists already"
cp one/site one/coordinator.pub
expect 3 "$agent" check --config one/agent.yml --timeout 1
prints 'holds a secret key'
for site in one two; do cp -f office/coordinator.pub $site/; done
expect 3 "$coordinator" check --config office/coordinator.yml
prints 'office/agents is not there: nobody is admitted yet: `agents add`'
prints 'NOT READY'

# A list of so many agents that they may bring the coordinator to its limit of memory.
for i in $(seq 700); do printf 's%d %064x\n' "$i" "$i"; done >office/many
chmod 600 office/many
sed 's/^agents: .*/agents: many\nmemory_mb_max: 64/' office/coordinator.yml >office/many.yml
expect 3 "$coordinator" check --config office/many.yml
prints 'memory       note    with all agents there this job takes up to'
prints 'agents       PASSED  700 agents'
fits_80
# A sanitizer's shadow memory does not fit any honest limit.
sanitized=
! grep -q __asan_init "$coordinator" || sanitized=yes
sed -i 's/^memory_mb_max: .*/memory_mb_max: 336/' office/many.yml
expect 3 "$coordinator" check --config office/many.yml
[ -n "$sanitized" ] || ! grep -q '^memory' "$work/out" || fault 'a warning where there is memory'
# Less than program and numerical library take: `run` and `check` say so, and do not begin to compute without end.
sed -i 's/^memory_mb_max: .*/memory_mb_max: 128/' office/many.yml
expect 3 timeout 60 "$coordinator" run --config office/many.yml
says "memory_mb_max leaves no room"
expect 3 timeout 60 "$coordinator" check --config office/many.yml
prints 'memory       FAILED  memory_mb_max leaves no room'
fits_80
sed -i 's/^memory_mb_max: .*/memory_mb_max: 336/' office/many.yml
# The same of one that stays: before a job is there, any may come; then those of its queue.
sed -e '/^job:/d; /^state:/d; /^out:/d' -e 's/^memory_mb_max: .*/memory_mb_max: 336/' office/many.yml >office/stays.yml
echo 'jobs: queue' >>office/stays.yml
good=${sanitized:+3}
expect "${good:-0}" "$coordinator" check --config office/stays.yml
prints 'memory       note    with all agents there and any job the coordinator takes up to'
fits_80
expect 0 "$coordinator" submit "$job" --config office/stays.yml
expect "${good:-0}" "$coordinator" check --config office/stays.yml
prints '1 job, of which 1 is not over'
# A script that died submits again under its own id: no second job, and never another one.
expect 0 "$coordinator" submit "$job" --id nightly --json --config office/stays.yml
prints '"number": 2'
expect 0 "$coordinator" submit "$job" --id nightly --json --config office/stays.yml
prints '"number": 2'
says 'in the queue already; submit it with another --id'
(cat "$job" && echo '# changed') >office/changed.yml
expect 3 "$coordinator" submit office/changed.yml --id nightly --config office/stays.yml
says 'job 2 was submitted with this id and another text'
expect 2 "$coordinator" submit "$job" --id '' --config office/stays.yml
says '--id wants ID, not an empty text'
expect 0 "$coordinator" jobs --json --config office/stays.yml
[ "$(grep -c '"number"' "$work/out")" -eq 2 ] || fault 'the queue has not two jobs'
expect 0 "$coordinator" cancel 2 --config office/stays.yml
rm -rf office/queue/2
expect "${good:-0}" "$coordinator" check --config office/stays.yml
prints '1 job, of which 1 is not over'
[ -n "$sanitized" ] || ! grep -q '^memory' "$work/out" || fault 'a warning where this job has memory'
# `check` judges a limit as `run` does: with nothing else wrong it is the limit that fails.
sed -i 's/^memory_mb_max: .*/memory_mb_max: 64/' office/stays.yml
expect 3 "$coordinator" check --config office/stays.yml
prints 'memory       FAILED  memory_mb_max leaves no room'
prints "memory       note    with all agents there the queue's jobs take up to"
fits_80

# A site alone: what is wrong with its files is told with place and remedy, before it joins anything.
expect 6 "$agent" check --config one/agent.yml --timeout 1
prints 'NOT READY'
prints 'epsilon 1.5 is left: no journal yet'
echo 'memory_mb_max: 128' | cat one/agent.yml - >one/tight.yml
expect 3 timeout 60 "$agent" check --config one/tight.yml --timeout 1
prints 'memory       FAILED  memory_mb_max leaves no room'
expect 3 timeout 60 "$agent" run --config one/tight.yml
says 'memory_mb_max leaves no room'
sed 's/^epsilon: .*/epsilon: 0.5/' one/policy.yml >one/mean.yml
sed 's/policy.yml/mean.yml/' one/agent.yml >one/forbids.yml
expect 5 "$agent" check --config one/forbids.yml --timeout 1
prints "and the policy's total (epsilon) is 0.5"
prints 'slot         PASSED  the job needs a slot of '
sed 's/^answer_slot_ms: .*/answer_slot_ms: 1/' one/policy.yml >one/hasty.yml
sed 's/policy.yml/hasty.yml/' one/agent.yml >one/hurried.yml
expect 5 "$agent" check --config one/hurried.yml --timeout 1
prints 'slot         FAILED  its stage 1, fit, takes up to '
prints 'set answer_slot_ms to '
sed 's/silence/silense/; $asilense_s: 9' one/agent.yml >one/typo.yml
expect 3 "$agent" run --config one/typo.yml
says 'typo.yml:10:1'
says 'did you mean "silence_s"'
sed 's/heartbeat_s: 0.5/heartbeat_s: 0,5/' one/agent.yml >one/comma.yml
expect 3 "$agent" check --config one/comma.yml
prints 'comma.yml:9:14'
# `check` tries the page as `run` does: its files, and its port.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x -addext subjectAltName=DNS:x \
    -keyout http.key -out http.crt 2>/dev/null
openssl rand -hex 32 >http.token
chmod 600 http.key http.token
page='certificate: ../http.crt, key: ../http.key, token: ../http.token, names: "x"'
for one in one/agent office/coordinator; do
    program=("$agent" check --timeout 1) code=6 # nobody answers it yet
    [ $one = one/agent ] || { program=("$coordinator" check); code=3; } # nobody is admitted yet
    (cat $one.yml; echo "http: {listen: \"127.0.0.1:0\", $page}") >$one-page.yml
    expect $code "${program[@]}" --config $one-page.yml
    prints 'page         PASSED'
    sed -i 's#key: ../http.key#key: ../http.crt#' $one-page.yml
    expect 3 "${program[@]}" --config $one-page.yml
    prints 'page         FAILED'
    prints 'chmod 600'
done
chmod 640 one/site
expect 3 "$agent" check --config one/agent.yml --timeout 1
prints 'chmod 600'
chmod 600 one/site
sed 's/^state: .*/state: no\/such/' one/agent.yml >one/homeless.yml
expect 3 "$agent" run --config one/homeless.yml
says 'make the folder above it'
expect 3 "$agent" check --config one/homeless.yml --timeout 1
prints 'make the folder above it'
sed 's#^state: .*#state: no/such#' office/coordinator.yml >office/homeless.yml
expect 3 "$coordinator" check --config office/homeless.yml
prints 'make the folder above it'
[ ! -e one/state ] || fault 'check left a state folder behind'
sed "s/:7310/:99999/" one/agent.yml >one/port.yml
expect 3 "$agent" run --config one/port.yml
says 'port.yml:2:24: coordinator.address: has no port up to 65535'
sed 's/^key: .*/key: site.pub/' one/agent.yml >one/public.yml
expect 3 "$agent" run --config one/public.yml
says 'if it is the right file'
sed 's/^data: .*/data: state/' one/agent.yml >one/folder.yml
mkdir one/state
expect 3 "$agent" check --config one/folder.yml --timeout 1
prints 'one/state: is a folder, not a table'
rmdir one/state
# A table without a column of the dictionary, or none: the agent does not start, whatever a job will ask for.
sed '1s/age/Age/' one/records.csv >one/broken.csv
sed 's/records.csv/broken.csv/' one/agent.yml >one/broken.yml
expect 3 "$agent" check --config one/broken.yml --timeout 1
prints 'broken.csv: line 1: no column "age", which one/data.yml names; did you mean "Age"?'
expect 3 "$agent" run --config one/broken.yml
says 'no column \"age\", which one/data.yml names'
sed 's/^data: .*/data: nowhere.csv/; s/^state: .*/state: dataless/' one/agent.yml >one/dataless.yml
expect 3 "$agent" run --config one/dataless.yml
says 'one/nowhere.csv: cannot be opened: No such file or directory'
# An address whose host is not found: the name, the key and the file.
sed 's|address: "[^"]*"|address: "tcp://no-such-host.invalid:7310"|' one/agent.yml >one/astray.yml
expect 6 "$agent" check --config one/astray.yml --timeout 3
prints 'the host name no-such-host.invalid is not found'
prints 'coordinator.address in one/astray.yml'
# Every cell has a meaning: what is odd is counted per column, on this screen, and changes no exit code.
sed '7s/^[^,]*,/sixtythree,/; 8s/^[^,]*,/,/; 9s/^[^,]*,/-9000,/; 10s/^[^,]*,/"71,5",/; 12s/,.*//' \
    one/records.csv >one/odd.csv
sed 's/records.csv/odd.csv/' one/agent.yml >one/odd.yml
expect 6 "$agent" check --config one/odd.yml --timeout 1
prints 'data         note    1 row has more or fewer fields than the first'
prints 'first in line 12'
prints 'data         note    cells of column        missing  unlisted   clamped'
prints 'data         note    age                          1         2         4'
prints 'data         note      unlisted first in line 7'
prints 'data         note      1 has a decimal comma'
fits_80
prints 'NOT READY'
says_not sixtythree

# A pipe in the table's place held `check`, `describe` and the agent for ever, for it waits for its writer.
mkfifo one/pipe.csv
sed 's/records.csv/pipe.csv/' one/agent.yml >one/pipe.yml
expect 3 timeout 20 "$agent" check --config one/pipe.yml --timeout 1
prints 'one/pipe.csv: is a pipe, and a table is read several times: write the records to a file'
expect 3 timeout 20 "$agent" describe one/pipe.csv
says 'one/pipe.csv: is a pipe'
expect 3 timeout 20 "$agent" run --config one/pipe.yml
says 'one/pipe.csv: is a pipe'

# A label in another spelling makes every record the negative class, and a column in another unit tells nothing:
# a warning in place of PASSED, on this screen, and the same exit code.
sed -E '2,$s/^(([^,]*,){9})([01]),/\1\3.0,/; 2,$s/^([0-9.]+),/\11000,/' one/records.csv >one/odd.csv
expect 6 "$agent" check --config one/odd.yml --timeout 1
prints 'data         WARNING none of 3000 cells of the label "death" is "1"; line 2 has "1.0": all count as "0"'
prints 'data         WARNING 2999 of 3000 numbers of column "age" are outside 50 to 98: another unit?'
prints 'data         note    3000 records; the agent joins'
says_not 'data         PASSED'
fits_80
sed '2,$s/^\(\([^,]*,\)\{9\}\)[^,]*,/\1'"$canary"',/' one/records.csv >one/odd.csv
expect 6 "$agent" check --config one/odd.yml --timeout 1
prints 'is "1"; line 2 has another text: all count as "0"'
says_not "$canary"

# Without a job the dictionary alone says what is odd, of all its columns and not of those that a job reads.
sed '7s/^[^,]*,[^,]*,/sixtythree,unsaid,/; 8s/^[^,]*,/,/; 9s/^[^,]*,/-9000,/; 10s/^[^,]*,/"71,5",/' \
    one/records.csv >one/odd.csv
sed -e '/^job:/d' -e 's/data.yml/ranged.yml/' one/odd.yml >one/jobless.yml
sed -e 's/name: "age", kind: number/&, low: 0, high: 120/' one/data.yml >one/ranged.yml
expect 6 "$agent" check --config one/jobless.yml --timeout 1
prints 'table        note    age                          1         2         1'
prints 'table        note      unlisted first in line 7'
prints 'table        note    sex                          0         1         0'
prints 'no job to compare the data with'
says_not sixtythree
says_not unsaid
fits_80

# What a job asks of columns beyond the dictionary is told, and declined by nobody.
sed -e 's/name: "age", kind: number/&, low: 0, high: 120/; s/categories: \["F", "M"\]/categories: ["F"]/' \
    one/data.yml >one/lacking.yml
sed 's/data.yml/lacking.yml/' one/agent.yml >one/noted.yml
expect 6 "$agent" check --config one/noted.yml --timeout 1
prints 'dictionary/job PASSED'
prints 'the job names "M", which the dictionary does not list'
prints 'the job clamps to 50 .. 98, and the dictionary says low: 0, high: 120'
fits_80

# Whoever may write a file that says what a program may do could change it: refused, with the chmod.
open_to_others() { # FILE COMMAND...
    local file=$1
    shift
    chmod g+w "$file"
    expect 3 "$@"
    prints "chmod go-w $file"
    chmod g-w "$file"
}
for file in one/agent.yml one/policy.yml one/data.yml one/site one/coordinator.pub; do
    open_to_others $file "$agent" check --config one/agent.yml --timeout 1
done
for file in office/coordinator.yml office/coordinator office/job.yml; do
    open_to_others $file "$coordinator" check --config office/coordinator.yml
done
chmod 777 one
expect 3 "$agent" check --config one/agent.yml --timeout 1
prints 'chmod go-w one'
chmod 700 one
# Whoever may replace the folder of the state could put an empty ledger in its place.
mkdir -m 777 one/open
sed 's#^state: .*#state: open/state#' one/agent.yml >one/elsewhere.yml
expect 3 "$agent" check --config one/elsewhere.yml --timeout 1
prints 'chmod go-w one/open'
[ ! -e one/open/state ] || fault 'a state was made where others may replace it'

# A coordinator whose results would have no place does not begin the job; one without a list admits nobody.
placeless() { # CODE OUT
    sed "s#^out: .*#out: $2#" office/coordinator.yml >office/placeless.yml
    expect "$1" timeout 10 "$coordinator" run --config office/placeless.yml
    says "office/$2"
    says remedy
    expect 3 "$coordinator" check --config office/placeless.yml
    prints "office/$2"
}
placeless 7 job.yml
placeless 3 no/such/out
start() { # LOG COMMAND...
    local log=$1
    shift
    "$@" >"$log" 2>&1 &
    started+=($!)
}
start nobody.log "$coordinator" run --config office/coordinator.yml
nobody=$!
for _ in $(seq 100); do grep -q list-unreadable nobody.log && break || sleep 0.1; done
grep -q 'nobody is admitted yet; remedy: `agents add`' nobody.log || fault 'what to do without a list is not told'
kill -TERM $nobody
wait $nobody || fault "a coordinator that is asked to stop ends with $?"

# Tokens: only for an address that can be dialled; spent by one enrolment.
sed 's#^listen: .*#listen: "tcp://0.0.0.0:7310"#' office/coordinator.yml >office/everywhere.yml
expect 3 "$coordinator" agents add one --token one.token --config office/everywhere.yml
says '--address'
expect 0 "$coordinator" agents add one --token one.token --address "$address" \
    --config office/coordinator.yml
expect 7 "$coordinator" agents add one --token one.token --address "$address" \
    --config office/coordinator.yml
expect 0 "$coordinator" agents add two --key "$(tail -n 1 two/site.pub)" --config office/coordinator.yml
# A second key for a name is told, as it may be a slip.
cp -a office office-twice
expect 0 "$coordinator" agents add two --token twice.token --address "$address" --config office-twice/coordinator.yml
prints 'two has a key already, and this token adds a second one'
expect 0 "$coordinator" agents add three --token three.token --address "$address" --config office-twice/coordinator.yml
! grep -q 'has a key already' "$work/out" || fault 'a first key is taken for a second one'
open_to_others office/agents "$coordinator" check --config office/coordinator.yml
for _ in $(seq 20); do
    expect 6 "$agent" enrol --config one/agent.yml --token one.token --timeout 1
    grep -q 'nothing answers' "$work/err" && break
done
says 'nothing answers'

start office.log "$coordinator" run --config office/coordinator.yml
office=$!
expect 0 "$agent" enrol --config one/agent.yml --token one.token --timeout 120
expect 0 "$agent" check --config one/agent.yml --timeout 120
prints 'coordinator  PASSED'
expect 7 "$coordinator" run --config office/coordinator.yml
says 'the journal in '
says 'in use by process'
expect 0 "$coordinator" check --config office/coordinator.yml
prints "this coordinator runs (process $office)"
sed 's/^state: .*/state: another/' office/coordinator.yml >office/same_port.yml
expect 3 "$coordinator" check --config office/same_port.yml
prints 'address      FAILED  '
prints 'another program listens there'

# One site alone is not enough; then the job, with both.
expect 0 "$agent" approve --config two/agent.yml
prints 'no job waits for a person'
sed -i 's/name: "age", kind: number/&, high: 99/' two/data.yml
start two.log "$agent" run --config two/agent.yml
two=$!
# Without a `job` in the settings a person reads the job first.
wait_for() { # WORD FILE
    for _ in $(seq 300); do grep -q "$1" "$2" && return || sleep 0.1; done
    fault "$2 never says $1"
}
wait_for job-waiting two.log
digest=$(sha256sum office/job.yml | cut -c 1-64)
expect 0 "$agent" approve --config two/agent.yml --json
python3 - "$work/out" "$digest" <<'PY' || fault 'the waiting job is not told in JSON'
import json, sys
[job] = json.load(open(sys.argv[1]))["waiting"]
assert job["digest"] == sys.argv[2] and job["epsilon"] == 1 and job["epsilon_left"] == 1.5, job
assert job["text"] == open("office/job.yml").read() and len(job["stages"]) == 2, job
assert len(job["notes"]) == 1 and "high: 99" in job["notes"][0], job["notes"]
PY
# Its text under another's digest is not shown, nor approved: a person's yes is for the text that was read.
cp "two/state/waiting/$digest.yml" waiting.kept
sed -i 's/^job: .*/job: another/' "two/state/waiting/$digest.yml"
expect 3 "$agent" approve --config two/agent.yml --yes "${digest:0:6}"
says 'its text does not match the digest in its name'
[ ! -e two/state/approvals ] || ! grep -q "$digest" two/state/approvals || fault 'a text was approved that nobody read'
cp waiting.kept "two/state/waiting/$digest.yml"
expect 3 "$agent" approve --config two/agent.yml --yes beef
says 'no waiting job has a digest that begins with'
expect 3 "$agent" approve --config two/agent.yml </dev/null
prints "What it asks of this site, of $(grep -oE 'records: [0-9]+' two/data.yml | cut -d ' ' -f 2) records or more"
prints 'stages:'
prints 'left of the policy'
says '--yes'
! grep -q job-joined two.log || fault 'a job was joined before a person said yes'
expect 5 "$agent" approve --config two/agent.yml --yes --runs 2 "${digest:0:6}"
says 'does not pay for 2 runs'
expect 0 "$agent" approve --config two/agent.yml --yes "${digest:0:6}"
prints 'approved for 1 run'
wait_for job-approved two.log
wait_for job-joined two.log
expect 0 "$agent" approve --config two/agent.yml
prints 'no job waits for a person'
# Texts are put into the folder by hand from here on: without this file nothing is known of what is offered.
rm -f two/state/offered
# A text that cannot be parsed is named and passed over; the others are shown, and the exit code tells.
{ cat office/job.yml; echo '# another'; } >"waiting.more"
more=$(sha256sum waiting.more | cut -c 1-64)
cp waiting.more "two/state/waiting/$more.yml"
echo nonsense >waiting.broken
broken=$(sha256sum waiting.broken | cut -c 1-64)
cp waiting.broken "two/state/waiting/$broken.yml"
chmod 600 two/state/waiting/*.yml
expect 3 "$agent" approve --config two/agent.yml --json
says "this text is passed over; remedy: delete two/state/waiting/$broken.yml"
grep -q "\"digest\": \"$more\"" "$work/out" || fault 'one broken text hides the others'
expect 3 "$agent" approve --config two/agent.yml --yes "${broken:0:8}"
expect 0 "$agent" reject --config two/agent.yml "${more:0:8}" --why 'nicht über unsere Patienten'
expect 3 "$agent" jobs --config two/agent.yml
prints 'because: nicht über unsere Patienten'
expect 3 "$agent" reject --config two/agent.yml "${more:0:8}" --why "$(printf '\xe2\x80\xaeabc')"
expect 0 "$agent" reject --config two/agent.yml "${more:0:8}" --why 'not about our patients'
says "$broken"
expect 3 "$agent" reject --config two/agent.yml "${more:0:8}" --why "$(printf 'two\nlines')"
says 'one line'
expect 3 "$agent" jobs --config two/agent.yml
prints 'because: not about our patients'
prints "${more:0:12}  rejected     0 "
prints "${digest:0:12}  approved     0 "
prints 'left of the policy'
expect 3 "$agent" show --config two/agent.yml "${more:0:12}"
prints 'What it asks of this site'
# What was rejected can be approved after all: its text is kept.
expect 0 "$agent" approve --config two/agent.yml "${more:0:12}" --yes
expect 3 "$agent" jobs --config two/agent.yml
prints "${more:0:12}  approved     0 "
expect 3 "$agent" show --config two/agent.yml "${digest:0:12}"
prints 'What it asks of this site'
expect 3 "$agent" approve --config two/agent.yml
prints 'no job that can be read waits'
rm "two/state/waiting/$broken.yml"
# A no is for one job: the beginning of several digests refuses none, and least of all the one that runs.
for i in $(seq 200); do
    { cat office/job.yml; echo "# $i"; } >waiting.more
    more=$(sha256sum waiting.more | cut -c 1-64)
    [ "${more:0:1}" != "${digest:0:1}" ] || cp waiting.more "two/state/waiting/$more.yml"
done
chmod 600 two/state/waiting/*.yml
[ "$(find two/state/waiting -name "${digest:0:1}*.yml" | wc -l)" -ge 2 ] || fault 'too few jobs wait for the test'
expect 3 "$agent" reject --config two/agent.yml "${digest:0:1}" --why 'too many jobs'
says 'give more of it'
grep -qE "^$digest 1@[0-9a-f]{64}\$" two/state/approvals || fault 'an ambiguous no refused the job that runs'
rm two/state/waiting/*.yml
expect 3 "$agent" reject --config two/agent.yml "${digest:0:8}beef" --why 'no such job'
says 'no job that waits or was decided on'
# The policy is followed while the agent runs; a broken one changes nothing.
cp two/policy.yml two/policy.before
echo 'epsilom: 1' >>two/policy.yml
wait_for policy-unreadable two.log
sed 's/^epsilon: .*/epsilon: 1.4/' two/policy.before >two/policy.new
mv two/policy.new two/policy.yml
wait_for 'epsilon 1.5 -> 1.4' two.log
chmod 666 two/policy.yml
wait_for 'chmod go-w' two.log
chmod 644 two/policy.yml
grep -q '"event":"ledger-begun"' two.log || fault 'a new ledger began in silence'
! grep -q round-closed office.log || fault 'a round was held with one site of two'
expect 7 "$agent" run --config two/agent.yml
says 'in use by process'
start one.log "$agent" run --once --config one/agent.yml
one=$!
wait $one || fault "the agent of a job that is done ends with $?"
wait $office || fault "the coordinator of a job that is done ends with $?"
[ -s office/state/out/model.json ] || fault 'there is no model'

# The ledger, the budget that is left, a coordinator's journal with another job, a revocation.
expect 0 "$agent" ledger --config one/agent.yml
prints 'left   epsilon 0.5, delta 0'
prints '; answer '
fits_80
expect 6 "$agent" check --config one/agent.yml --timeout 1
prints 'epsilon 0.5 is left'
prints 'the job costs up to 1'
# A deleted journal is noticed without a job to hold the data against, and without its log.
sed '/^job:/d' one/agent.yml >one/any.yml
expect 6 "$agent" check --config one/any.yml --timeout 1
prints 'ledger       PASSED'
mkdir one/aside
mv one/state/journal.db* one/aside/
expect 3 "$agent" check --config one/any.yml --timeout 1
prints 'ledger       FAILED  there is no journal at'
prints "put the latest journal.db back"
mv one/aside/* one/state/
chmod 660 one/state/journal.db
expect 3 "$agent" check --config one/any.yml --timeout 1
prints 'chmod go-w'
chmod 600 one/state/journal.db
echo '# another text' >>office/job.yml
expect 3 "$coordinator" run --config office/coordinator.yml
says journal-of-another-job
cp "$work/err" other.log
expect 0 "$coordinator" agents revoke one --config office/coordinator.yml
expect 3 "$coordinator" agents revoke one --config office/coordinator.yml
says 'lists no such agent'
rm one/state/mark
expect 3 "$agent" run --config one/agent.yml
says 'mark is missing'
kill -TERM $two
wait $two || fault "an agent that is asked to stop ends with $?"

# Logs are JSON lines to the end, also of a program that could not start.
python3 - office.log one.log two.log other.log "$work/err" <<'PY' || fault 'a log line is no JSON'
import json, sys
for path in sys.argv[1:]:
    for line in open(path):
        assert {"time", "level", "event", "text"} <= json.loads(line).keys(), (path, line)
PY
for kept in office one/state two/state ./*.log; do
    ! grep -rqaE "$canary|6123409" "$kept" || fault "a value of a record is in $kept"
done
# What a job asks beyond a column's range, and what its sizes tell, are said before a yes, also in JSON.
cat >questions.yml <<'YAML'
hedgerow: 1
job: questions
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: age, centre: 70, half_width: 30}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 1, delta: 0}
cohort: {minimum: 2, records_most: 5000, deadline_s: 30}
stages:
  - {task: query, by_site: true, queries: ["count: age > 500", "count: (age > 500)"], batch: 50 %, share: 1, grid_bits: 10}
YAML
chmod 644 questions.yml
expect 5 "$agent" check --config two/agent.yml --job questions.yml --timeout 1
prints 'job          note    stage 1: character 14 of "count: age > 500" lies outside'
again='stage 1: question 2, "count: (age > 500)", asks the same as question 1'
prints "job          note    $again"
fits_80
sed -e 's/^job: .*/job: ..\/questions.yml/; s/^state: .*/state: state-questions/; s/^out: .*/out: out-questions/' \
    office/coordinator.yml >office/questions.yml
"$coordinator" check --config office/questions.yml >"$work/out" 2>&1 # the address may be taken: no matter here
prints "job          note    $again"
rm -f two/state/offered
cp questions.yml "two/state/waiting/$(sha256sum questions.yml | cut -c 1-64).yml"
chmod 600 two/state/waiting/*.yml
expect 0 "$agent" approve --config two/agent.yml --json
python3 - "$work/out" <<'PY' || fault 'notes are missing in JSON'
import json, sys
[job] = json.load(open(sys.argv[1]))["waiting"]
assert "a batch is a share" in job["notes"][0], job["notes"]
assert "asks the same as" in job["notes"][1], job["notes"]
by_site, outside, _ = job["stages"][0]["notes"]
assert "noisy answer" in by_site and "published under the site's name" in by_site, by_site
assert "lies outside" in outside, outside
PY
expect 5 "$agent" approve --config two/agent.yml </dev/null
prints 'a batch is a share'
prints "note: by_site: each site's own noisy answer"
prints "note: $again"

# A price that is not left is refused before the question, also with --yes: at least 1 of 1.5 is spent.
rm two/state/waiting/*.yml
sed -e 's/tasks: .*/&\nallowance_epsilon: 1.2\nallowance_days: 30\njob_epsilon: 1.1/' two/policy.yml >two/small.yml
sed 's/policy.yml/small.yml/' two/agent.yml >two/small-agent.yml
{ cat office/job.yml; echo '# once more'; } >once-more.yml
rm -f two/state/offered
cp once-more.yml "two/state/waiting/$(sha256sum once-more.yml | cut -c 1-64).yml"
chmod 600 two/small.yml two/small-agent.yml two/state/waiting/*.yml
expect 5 "$agent" approve --config two/agent.yml --yes
says 'this job costs epsilon 1, delta 0, and epsilon 0.'
says 'reject it, or raise epsilon in the policy'
prints 'NOT ENOUGH: this job costs epsilon 1'
expect 5 "$agent" approve --config two/agent.yml --json --yes
grep -q '"not_enough": "this job costs epsilon 1' "$work/out" || fault 'not_enough is missing in JSON'
sed -i 's/^epsilon: .*/epsilon: 9/' two/small.yml
expect 5 "$agent" approve --config two/small-agent.yml --yes
says 'for any 30 days epsilon 0.'
prints 'left of what any 30 days may cost: epsilon 0.'
prints 'the policy allows each job epsilon 1.1, delta 0 (job_epsilon)'
sed -i '/^allowance/d' two/small.yml
expect 0 "$agent" approve --config two/small-agent.yml --yes
prints 'approved for 1 run'

# A second signal, from a supervisor or a person without patience, takes neither result nor exit code.
sed 's/join_deadline_s: 60 /join_deadline_s: 1 /' "$job" >office/short.yml
sed 's/job: job.yml/job: short.yml/; s/: state/: short/' office/coordinator.yml >office/short-run.yml
"$coordinator" agents add one --key "$(tail -n 1 one/site.pub)" --config office/short-run.yml >/dev/null
start short.log "$coordinator" run --config office/short-run.yml
short=$!
wait_for job-failed short.log
kill -TERM $short
wait_for stopping short.log
kill -TERM $short 2>/dev/null
code=0
wait $short || code=$?
[ $code -eq 4 ] || fault "a coordinator that is told twice to stop ends with $code"
[ -s office/short/out/result.json ] || fault 'a second signal took the result'
finish
