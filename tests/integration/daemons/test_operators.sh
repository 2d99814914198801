#!/bin/bash
# What docs/REFERENCE and docs/WATCHING tell the operators of a coordinator and of two sites to do before anything runs, and what they
# do wrong: each message names the file and the remedy, each exit code is the documented one.
. "$(dirname "$0")/operators.sh"

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

# A list with enough agents to bring the coordinator to its memory limit.
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
# A limit below what the program and the numerical library need: `run` and `check` say so, and do not compute for
# ever.
sed -i 's/^memory_mb_max: .*/memory_mb_max: 128/' office/many.yml
expect 3 timeout 60 "$coordinator" run --config office/many.yml
says "memory_mb_max leaves no room"
expect 3 timeout 60 "$coordinator" check --config office/many.yml
prints 'memory       FAILED  memory_mb_max leaves no room'
fits_80
sed -i 's/^memory_mb_max: .*/memory_mb_max: 336/' office/many.yml
# The same for a coordinator with a queue. Before it has a job it counts with any job; then with
# those of the queue.
sed -e '/^job:/d; /^state:/d; /^out:/d' -e 's/^memory_mb_max: .*/memory_mb_max: 336/' office/many.yml >office/stays.yml
echo 'jobs: queue' >>office/stays.yml
good=${sanitized:+3}
expect "${good:-0}" "$coordinator" check --config office/stays.yml
prints 'memory       note    with all agents there and any job the coordinator takes up to'
fits_80
expect 0 "$coordinator" submit "$job" --config office/stays.yml
expect "${good:-0}" "$coordinator" check --config office/stays.yml
prints '1 job, of which 1 is not over'
# A script that died submits again under its own id. No second job is added, and another text under
# this id is refused.
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
# `check` judges the memory limit as `run` does.
sed -i 's/^memory_mb_max: .*/memory_mb_max: 64/' office/stays.yml
expect 3 "$coordinator" check --config office/stays.yml
prints 'memory       FAILED  memory_mb_max leaves no room'
prints "memory       note    with all agents there the queue's jobs take up to"
fits_80

# A site alone: `check` tells what is wrong with its files, with place and remedy, before the agent
# joins.
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
# Without a table, or with one that lacks a column of the dictionary, the agent does not start.
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
# Every cell can be read. Odd cells are counted per column, on this screen only, and change no exit
# code.
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

# A pipe in the table's place waits for its writer. Planted: `check`, `describe` and the agent waited for
# ever.
mkfifo one/pipe.csv
sed 's/records.csv/pipe.csv/' one/agent.yml >one/pipe.yml
expect 3 timeout 20 "$agent" check --config one/pipe.yml --timeout 1
prints 'one/pipe.csv: is a pipe, which may never be written or is read only once: write the records to a file'
expect 3 timeout 20 "$agent" describe one/pipe.csv
says 'one/pipe.csv: is a pipe'
ln -s pipe.csv one/link.csv
expect 3 timeout 20 "$agent" describe one/link.csv
says 'one/link.csv: is a pipe'
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

# A file that says what a program may do is refused if others can write it. The message has the
# chmod.
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
# If others can replace the state's folder, they could put an empty ledger in its place. It is
# refused.
mkdir -m 777 one/open
sed 's#^state: .*#state: open/state#' one/agent.yml >one/elsewhere.yml
expect 3 "$agent" check --config one/elsewhere.yml --timeout 1
prints 'chmod go-w one/open'
[ ! -e one/open/state ] || fault 'a state was made where others may replace it'

# A coordinator that could not write its results does not begin the job. One without a list of agents
# admits nobody.
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
start nobody.log "$coordinator" run --config office/coordinator.yml
nobody=$!
for _ in $(seq 100); do grep -q list-unreadable nobody.log && break || sleep 0.1; done
grep -q 'nobody is admitted yet; remedy: `agents add`' nobody.log || fault 'what to do without a list is not told'
kill -TERM $nobody
wait $nobody || fault "a coordinator that is asked to stop ends with $?"
for kept in office ./*.log; do
    ! grep -rqaE "$canary|6123409" "$kept" || fault "a value of a record is in $kept"
done
finish
