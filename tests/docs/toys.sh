#!/bin/bash
# toys.sh - shows that a new task is one folder and one line, and a new loss one file and one line, as docs/ARCHITECTURE.md
# says: adds a toy of each to a copy of the sources, from the patches in toys/, and builds and runs what they change.
#
#     tests/docs/toys.sh ROOT BUILD CC [FLAGS...]
#
# It compiles the files that know tasks or losses by name, and links them with objects from BUILD. Ends with 1 and
# the compiler's words when another file would need a change.
set -euo pipefail
export LC_ALL=C

root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
cc=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir tree objects
for room in common agent coordinator cli lab tests/support; do
    (cd "$root" && find "$room" -name '*.[ch]' -print0 | tar -c --null -T -) | tar -x -C tree
done

fail() {
    printf 'toys: %s\n' "$*"
    exit 1
}

# A patch adds files at one place, and one line to one list.
add() {
    local patch=$root/tests/docs/toys/$1.patch place=$2 list=$3 touched
    touched=$(sed -n 's|^+++ b/||p' "$patch" | grep -v "^$place" | grep -vx "$list" || true)
    [ -z "$touched" ] || fail "$1.patch touches $touched"
    [ "$(grep -c '^-[^-]' "$patch")" -le 1 ] || fail "$1.patch changes more than one line"
    patch -s -p1 -d tree <"$patch" || fail "$1.patch does not apply"
    [ $(($(wc -l <"tree/$list") - $(wc -l <"$root/$list"))) -eq 1 ] || fail "$1.patch adds more than a line to $list"
}
add task common/task/toy/ common/task/list.h
add loss common/learn/loss_toy.c common/learn/loss.h

generated=$(dirname "$(find "$build" -name wire.pb-c.h | head -n 1)")
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE '-DHEDGEROW_VERSION="toy"' -O0
    -Werror=switch-enum -Werror=switch "$@" -Itree -Itree/common "-I$generated")

# Sources that know what a patch adds to: objects of these are linked, of the others only the syntax is judged.
linked() { find tree/common/task tree/common/job -name '*.c' && ls tree/common/learn/loss*.c; }
judged() { grep -rlE '\b(TASK|LOSS)_[A-Z]' tree --include='*.c' | grep -vE '^tree/tests/|^tree/common/(task|job)/|^tree/common/learn/loss'; }
# shellcheck disable=SC2016 # the inner shell expands these
compile() {
    linked | xargs -P "$(nproc)" -I{} bash -c 'out=objects/$(tr / _ <<<"$1").o; shift; "$@" -c -o "$out"' \
        - {} "$cc" "${flags[@]}" {} 2>"$work/said" &&
        judged | xargs -P "$(nproc)" -I{} "$cc" "${flags[@]}" -fsyntax-only {} 2>>"$work/said"
}

if ! compile; then
    cat "$work/said"
    fail 'another file needs a change'
fi
libraries=$(find "$build/common" -name 'lib*.a' | grep -vE '/lib(job|task_answer|task_close|io|report)\.a$')
# shellcheck disable=SC2046,SC2086 # lists of words
"$cc" "${flags[@]}" -o toys "$root/tests/docs/toys/toys.c" objects/*.o -Wl,--start-group $libraries -Wl,--end-group \
    $(pkg-config --libs yaml-0.1 libcrypto jansson openblas zlib mpfr gmp libprotobuf-c) -lm
./toys || fail 'what was built does not work'

# Planted: tables by task and by loss in other files, which lack the toys.
plant() {
    local file=tree/$1
    cp "$file" kept
    printf '%s\n' "$2" >>"$file"
    { linked && judged; } | grep -x "$file" >/dev/null || fail "$1 would not be compiled"
    if "$cc" "${flags[@]}" -fsyntax-only "$file" 2>/dev/null; then
        fail "not caught: $2"
    fi
    cp kept "$file"
}
plant agent/policy.c '#include "task/list.h"
_Static_assert(TASK_UPDATE + 1 == TASK_COUNT, "a table by task");'
plant common/job/terms.c 'int planted(enum task task);
int planted(enum task task) { switch (task) { case TASK_FIT: case TASK_LOSSES: case TASK_ONLINE: case TASK_PREDICT:
    case TASK_QUERY: case TASK_SELECT: case TASK_STATISTICS: case TASK_UPDATE: case TASK_COUNT: return 1; } return 0; }'
plant common/learn/metrics.c '_Static_assert(LOSS_LINEAR + 1 == LOSS_KINDS, "a table by loss");'
echo 'toys: a task is one folder and one line, a loss one file and one line'
