#!/bin/bash
# layers.sh - fails if a line of code includes a room that its own room may not include.
#
#     tests/layers/layers.sh ROOT           # the sources of the tree at ROOT
#     tests/layers/layers.sh ROOT BUILD     # and what the libraries and programs built there ask for
#
# Which room may include which is declared once, in the DEPENDS of each CMakeLists.txt; a few
# dependencies may never be declared (below), and the rest of the rules is in rules.awk. Ends with 1 and
# a sentence for each violation. self_test.sh shows that each rule can fail.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
root=${1:?say which tree to check}
build=${2:-}
if [ -n "$build" ]; then
    build=$(cd "$build" && pwd)
fi
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/violations"

complain() { printf '%s\n' "$*" >>"$work/violations"; }

# The declarations: house_library(name DEPENDS ...) and house_program(name SOURCES ...), folder by folder.
find . -name CMakeLists.txt -not -path './build*' -not -path './.git/*' -not -path './tests/*' | sed 's|^\./||' | sort |
    while read -r file; do
        sed 's/#.*//' "$file" | tr '\n' ' ' | tr '()' '\n\n' | awk -v folder="$(dirname "$file")" '
            /house_library *$/ { kind = "library"; next }
            /house_program *$/ { kind = "program"; next }
            kind == "library" {
                n = split($0, word, " ")
                print "L\t" word[1] "\t" folder
                for (i = 2; i <= n; i++) {
                    if (word[i] ~ /^(PARTS|DEPENDS|FOREIGN|EXCLUDE)$/) section = word[i]
                    else if (section == "PARTS") print "F\t" word[1] "\t" folder "\t" word[i]
                    else if (section == "DEPENDS") print "D\t" word[1] "\t" word[i]
                }
            }
            kind == "program" {
                n = split($0, word, " ")
                for (i = 2; i <= n; i++) {
                    if (word[i] ~ /^(SOURCES|DEPENDS|FOREIGN)$/) section = word[i]
                    else if (section == "SOURCES") print "P\t" folder "/" word[i]
                    else if (section == "DEPENDS") print "D\t" word[1] "\t" word[i]
                }
            }
            { kind = ""; section = "" }'
    done >"$work/declared"

# What may never be declared: machines do not see io, the driver cannot spend, and base includes no
# room.
while read -r from to reason; do
    awk -F '\t' -v from="$from" -v to="$to" -v reason="$reason" '
        $1 == "D" && $2 ~ ("^(" from ")$") && $3 ~ ("^(" to ")$") && $2 != "studies" {
            print "CMakeLists.txt of " $2 ": must never depend on " $3 ": " reason
        }' "$work/declared" >>"$work/violations"
done <<'NEVER'
base .* base knows nobody
io dp|learn|experts|query|job|task_answer|task_close|agent|coordinator the driver cannot spend, and drives any machine
dp|learn|experts|query|job|task_answer|task_close|protocol|config|crypto io the machines and their rooms are pure
agent|coordinator io the machines are pure; only their main.c meets the outside world
task_answer|task_close agent|coordinator a task is a function of values, and knows no program
agent coordinator|report the two machines share messages, nothing else
coordinator agent the two machines share messages, nothing else
dp learn|experts|query|job|protocol|config|crypto privacy depends on base alone
protocol learn|experts|query|job|config|crypto messages carry bytes, not meaning
agent|hedgerow-agent|task_answer task_close what a sum becomes is the coordinator's to compute
coordinator|hedgerow-coordinator|task_close task_answer what a task computes from records is the agent's
.* support what belongs to the tests stays out of the libraries
NEVER

# What plans, audits and studies is for the operator's command: no room and no program of a daemon declares it.
awk -F '\t' '
    $1 == "L" { in_lab[$2] = $3 ~ /^lab\// }
    $1 == "D" { pair[++pairs] = $2 "\t" $3 }
    END {
        for (i = 1; i <= pairs; i++) {
            split(pair[i], end, "\t")
            if (in_lab[end[2]] && !in_lab[end[1]] && end[1] != "cli")
                print "CMakeLists.txt of " end[1] ": must never depend on " end[2] ": no daemon links the lab"
        }
    }' "$work/declared" >>"$work/violations"

# No ring of dependencies: take away what depends on nothing that is left, until nothing is left.
awk -F '\t' '
    $1 == "L" { left[$2] = 1 }
    $1 == "D" { edge[$2 "\t" $3] = 1 }
    END {
        do {
            removed = 0
            for (library in left) {
                free = 1
                for (pair in edge) {
                    split(pair, end, "\t")
                    if (end[1] == library && (end[2] in left)) free = 0
                }
                if (free) { delete left[library]; removed = 1; break }
            }
        } while (removed)
        for (library in left) print "CMakeLists.txt of " library ": is part of, or rests on, a ring of dependencies"
    }' "$work/declared" >>"$work/violations"

find common agent coordinator cli lab tests -name '*.[ch]' 2>/dev/null | sort >"$work/sources"
sed -n 's/^/H\t/; /\.h$/p' "$work/sources" >"$work/headers"
sed -n 's/^ *X(\([A-Z]*\), \([a-z]*\)).*/T\tTASK_\1\tcommon\/task\/\2\//p' common/task/list.h >>"$work/declared"
xargs -r awk -f "$here/strip.awk" <"$work/sources" >"$work/code"
awk -f "$here/rules.awk" "$work/declared" "$work/headers" "$work/code" >>"$work/violations"
awk -f "$here/unused.awk" "$here/for_tests.txt" "$work/code" >>"$work/violations"

# Comments too: unfinished work belongs in an issue.
{
    grep -nE '\b(TODO|FIXME|XXX|HACK)\b' -r common agent coordinator cli lab tests cmake proto scripts compose .ci \
        --include='*.[ch]' --include='CMakeLists.txt' --include='*.cmake' --include='*.proto' --include='*.sh' \
        --include='run' --include='up' --include='test' --include='demo' --include='install' 2>/dev/null |
        grep -v '^tests/layers/' | sed 's/:\([0-9]*\):.*/:\1: says that something is not done; open an issue instead/'
} >>"$work/violations" || true

# A report shows the sentences of the trust's row. No page names a trust.
trusts=$(sed -n 's/.*\.name = "\([a-z]*\)".*/\1/p' common/job/trust.c | paste -sd'|')
grep -nwE "$trusts" common/report/*.{js,html} | sed 's/^\([^:]*:[0-9]*\):.*/\1: names a trust: show what its row says (job\/trust.h)/' >>"$work/violations" || true

# (grep reads to the end below: with -q it would leave at the first hit, and `pipefail` would take the
# writer's broken pipe for "nothing found".)
# What was built: the pure rooms ask the system for nothing, and the simulator needs none of the
# libraries that do.
if [ -n "$build" ]; then
    for library in agent/libagent.a coordinator/libcoordinator.a common/protocol/libprotocol.a \
        common/dp/libdp.a common/noise/libnoise.a common/account/libaccount.a common/experts/libexperts.a common/job/libjob.a \
        common/task/libtask_answer.a common/task/libtask_close.a \
        lab/composition/libcomposition.a; do
        if [ ! -f "$build/$library" ]; then
            complain "$library: not built in $build; build everything before this check"
            continue
        fi
        nm --undefined-only --format=posix "$build/$library" 2>/dev/null | awk -v library="$library" '
            BEGIN {
                n = split("socket connect bind listen accept send recv sendto recvfrom poll ppoll select" \
                    " time clock gettimeofday clock_gettime nanosleep usleep sleep fork vfork system" \
                    " pthread_create thrd_create getrandom getentropy open open64 openat fopen fopen64" \
                    " read write unlink rename getenv secure_getenv rand random srand drand48", list, " ")
                for (i = 1; i <= n; i++) outward[list[i]] = 1
            }
            NF > 1 && (($1 in outward) || $1 ~ /^(zmq_|sqlite3_|PQ|exec|epoll_|RAND_)/) {
                print library ": asks for " $1 ", which belongs to the outside world"
            }' >>"$work/violations"
    done
    # Three programs are installed, and hold nothing of the tests: no generator with a seed, no hook that
    # kills.
    find "$build" -name cmake_install.cmake -exec sed -n \
        's|.* TYPE EXECUTABLE FILES ".*/bin/\(.*\)".*|\1|p' {} + | sort -u |
        { grep -vxE 'hedgerow(-agent|-coordinator)?' || true; } |
        sed 's|.*|bin/&: is installed, which only hedgerow, its agent and its coordinator may be|' >>"$work/violations"
    # The loader looks for libraries in absolute folders alone, or beside the program: never in the current folder,
    # which an empty or relative entry of a RUNPATH names.
    find "$build/bin" -maxdepth 1 -type f -perm -u+x 2>/dev/null | sort | while read -r program; do
        "$here/runpath.sh" "$program" || true
    done >>"$work/violations"
    for program in hedgerow hedgerow-agent hedgerow-coordinator; do
        if [ ! -x "$build/bin/$program" ]; then
            complain "bin/$program: not built in $build; build everything before this check"
        elif nm "$build/bin/$program" | grep -E ' (seeded_random|kill_at|memory_journal|every_choice)' >/dev/null; then
            complain "bin/$program: holds code of tests/support, which no installed program may"
        fi
    done
    # What was linked, too: a daemon holds no function of the lab.
    functions() { nm --defined-only --format=posix "$@" 2>/dev/null | awk '$2 == "T" { print $1 }' | sort -u || true; }
    functions "$build"/lab/*/lib*.a >"$work/lab"
    for program in hedgerow-agent hedgerow-coordinator; do
        functions "$build/bin/$program" |
            comm -12 - "$work/lab" | sed "s|.*|bin/$program: holds & of the lab, which no daemon links|"
    done >>"$work/violations"
    # The agent links no task's closing, and the coordinator links no task's answer: neither functions nor
    # tables of entries.
    parts() { nm --defined-only --format=posix "$@" 2>/dev/null | awk '$2 ~ /^[TRD]$/ { print $1 }' | sort -u || true; }
    for pair in 'agent close coordinator' 'coordinator answer agent'; do
        read -r holder part owner <<<"$pair"
        parts "$build/common/task/libtask_$part.a" >"$work/parts"
        parts "$build/bin/hedgerow-$holder" |
            comm -12 - "$work/parts" | sed "s|.*|bin/hedgerow-$holder: holds & of a task, which is for the $owner alone|"
    done >>"$work/violations"
    if [ ! -x "$build/bin/sim" ]; then
        complain "bin/sim: not built in $build; build everything before this check"
    elif ldd "$build/bin/sim" | grep -E 'libzmq|libsqlite3|libpq' >/dev/null; then
        complain "bin/sim: is linked with zmq, sqlite3 or libpq; the machines must run without"
    fi
fi

if [ -s "$work/violations" ]; then
    sort -u "$work/violations"
    printf 'layers: %s violations\n' "$(sort -u "$work/violations" | wc -l)"
    exit 1
fi
printf 'layers: %s files, each in its room\n' "$(wc -l <"$work/sources")"
