#!/bin/bash
# What docs/REFERENCE and docs/WATCHING tell the operators of a coordinator and of two sites to do while these run, and what they
# do wrong: each message names the file and the remedy, each exit code is the documented one, a log that goes to a file is JSON to
# its last line, and no program prints or keeps a value of a record.
. "$(dirname "$0")/operators.sh"
prepare

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
# From here on the test puts texts into the folder by hand. Without this file the agent does not know what
# is offered.
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
# A rejection is for one job. The first digits of a digest that several jobs share reject none of them,
# nor the job that runs.
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

# A second signal changes neither the result nor the exit code.
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
