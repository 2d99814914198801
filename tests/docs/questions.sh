#!/bin/bash
# questions.sh - fails when a kind of question that the programs know lacks its part of section 14 in docs/PRIVACY.md (what is
# released, how far a record moves it and why, the function, the test), its place in docs/JOBS.md, or its row in docs/STUDY.md's
# table of how often intervals hold.
#
#     tests/docs/questions.sh query.c PRIVACY JOBS STUDY
#
# Kinds are the names in query_kinds, and by_site. A part begins with "**14.3. Name (`survival`).**", and a row of the table with
# "| `survival`".
set -euo pipefail
export LC_ALL=C

source=${1:?say where query_kinds is}
privacy=${2:?say which page has the claims}
jobs=${3:?say which page explains jobs}
study=${4:?say which page has the studies}
failed=0
complain() {
    printf '%s: %s\n' "$1" "$2"
    failed=1
}

mapfile -t kinds < <(sed -nE 's/^ *\[QUERY_[A-Z0-9]+\] = \{"([a-z0-9]+)",.*/\1/p' "$source" | sort -u)
[ "${#kinds[@]}" -ge 10 ] || complain "$source" "only ${#kinds[@]} kinds of questions were found"

for kind in "${kinds[@]}" by_site; do
    part=$(awk -v name="\`$kind\`" '/^\*\*[0-9]/ { own = /^\*\*14\.[0-9]+\. / && index($0, name) } own' "$privacy" | tr '\n' ' ')
    for word in Release Sensitivity Function Test; do
        [[ $part == *"*$word"* ]] || complain "$privacy" "no part of section 14 has the \"$word\" of $kind"
    done
    [[ $part == *'roof:*'* || $part == *'proof:*'* ]] || complain "$privacy" "no part of section 14 has the proof for $kind"
    grep -qE "^#### .*$kind|\| \`$kind: |^With \`$kind: true" "$jobs" || complain "$jobs" "$kind is not explained"
    grep -qE "^\| .*\`$kind\`.* \|.* \|.* \|.* \|$" "$study" || complain "$study" "no row tells how often intervals of $kind hold, or that there are none"
done
exit "$failed"
