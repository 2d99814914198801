#!/bin/bash
# sections.sh - fails when the sections or the claims of docs/PRIVACY.md are not numbered one after another, when a
# page refers to one that is not there, or when a reference on that page does not say which of the two it means.
#
#     tests/docs/sections.sh PRIVACY [PAGE...]
#
# A section begins with "**7. Name", a part of one with "**7.1. Name", a row of a claim with "| C7 |". References are "section 7", "sections 7 and 8",
# "section 7.1", "C7" and, on other pages, "PRIVACY, section 7". An equation of a paper is "equation (7)".
set -euo pipefail
export LC_ALL=C

privacy=${1:?say which page has the claims}
failed=0
complain() {
    printf '%s: %s\n' "$1" "$2"
    failed=1
}

in_order() { # KIND NUMBER...
    local kind=$1 i=0 number
    shift
    for number in "$@"; do
        i=$((i + 1))
        [ "$number" = "$i" ] || { complain "$privacy" "$kind $number where $i should stand"; return; }
    done
    [ "$i" -gt 0 ] || complain "$privacy" "no $kind was found"
}

mapfile -t sections < <(sed -nE 's/^\*\*([0-9]+)\. .*/\1/p' "$privacy")
mapfile -t claims < <(sed -nE 's/^\| C([0-9]+) \|.*/\1/p' "$privacy")
in_order section "${sections[@]}"
# Parts stand inside their section, one after another.
if ! wrong=$(awk -F'[*. ]+' '/^\*\*[0-9]+\. / { section = $2; part = 0 }
    /^\*\*[0-9]+\.[0-9]+\. / { if ($2 != section || $3 != ++part) { print $2 "." $3; bad = 1 } }
    END { exit bad }' "$privacy"); then
    complain "$privacy" "these parts are out of order: $wrong"
fi
in_order claim "${claims[@]}"

# A page as one line, so that a reference may be broken anywhere.
flat() { tr '\n' ' ' <"$1" | tr -s ' '; }

refer() { # PAGE LAST KIND, and the numbers on standard input
    local number
    while IFS= read -r number; do
        if ((number < 1 || number > $2)); then
            complain "$1" "there is no $3 $number"
        fi
    done
}

# References to parts of sections, which must be there.
refer_parts() { # PAGE, and the numbers on standard input
    local number
    while IFS= read -r number; do
        grep -qF "**$number. " "$privacy" || complain "$1" "there is no section $number"
    done
}

numbers() { grep -oE '[0-9]+' || true; }

# PROTOCOL has sections of its own, and so have papers.
own=$(flat "$privacy" | sed -E 's/PROTOCOL, section [0-9]+//g; s/(Roth|Ullman|Vadhan) [0-9]{4}, (section|claim) [0-9.]+//g')
refer "$privacy" "${#sections[@]}" section < <(grep -oE '[Ss]ections? [0-9]+((, | and | or | to )[0-9]+)*' <<<"$own" | numbers)
refer_parts "$privacy" < <(grep -oE '[Ss]ections? [0-9]+\.[0-9]+' <<<"$own" | grep -oE '[0-9]+\.[0-9]+' || true)
for page in "$@"; do
    refer_parts "$page" < <(flat "$page" | grep -oE 'PRIVACY(\.md)?[])(]*(PRIVACY\.md\))?, sections? [0-9]+\.[0-9]+' |
        grep -oE '[0-9]+\.[0-9]+' || true)
    refer "$page" "${#claims[@]}" claim < <(flat "$page" | grep -oE '\bC[0-9]+\b' | numbers)
    refer "$page" "${#sections[@]}" section < <(flat "$page" |
        grep -oE 'PRIVACY(\.md)?[])(]*(PRIVACY\.md\))?, sections? [0-9]+' | numbers)
    while IFS= read -r bare; do
        complain "$page" "\"$bare\": write PRIVACY, section N"
    done < <(flat "$page" | grep -oE 'PRIVACY(\.md\))? [0-9]+' || true)
done
while IFS= read -r bare; do
    complain "$privacy" "\"$bare\": write C with the number for a claim, and section or equation before another one"
done < <(grep -oE "[Cc]laims? [0-9]+|(\w+ ?)?\(([1-9]|1[0-9]|2[0-9])\)|\bas (in )?[0-9]+[.,]|\| [0-9]+( to [0-9]+)? below" <<<"$own" |
    grep -vE '^(equation |sqrt)\(' || true)
exit "$failed"
