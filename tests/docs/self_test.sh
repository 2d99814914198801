#!/bin/bash
# self_test.sh - plants a wrong name of each kind into a page. names.sh must refuse each one, and
# must accept the page without them. The same for lines that are too long and lines.sh. shellcheck
# disable=SC2016 # the marks are the page's
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

good='`ledger_spend` in `agent/gate.c`, `filter.h`; `unit/common/dp/test_filter`, `statistical/common/noise/test_laplace_{fit,low}`,
`unit/common/noise/test_laplace*`, `bench_noise`, `test_gate: a_round_is_answered_once_whatever_is_asked`,
`tests/sim`; `ceil(sqrt(d) Delta_2/g) + d`, `epsilon`, `hedgerow plan compose`; [there](there.md), [far](https://example.org/x), [here](#here)'
wrong=(ledger_spending agent/gates.c filters.h unit/common/dp/test_filters 'statistical/common/noise/test_laplace_{fit,lower}'
    'unit/common/noise/test_laplacian*' bench_nothing test_nothing 'test_gate: a_round_is_answered_twice'
    'test_gate: a_round_is_answered_once_whatever_is_asked, ..._to_nobody_at_all'
    'test_gates: a_round_is_answered_once_whatever_is_asked')

printf 'there' >"$work/there.md"
printf '%s\n' "$good" >"$work/good.md"
"$here/names.sh" "$root" "$work/good.md" || { printf 'FAILED: a page whose names are all there\n'; failed=1; }

pages=()
for i in "${!wrong[@]}"; do
    pages+=("$work/wrong-$i.md")
    printf '%s and `%s`\n' "$good" "${wrong[$i]}" >"$work/wrong-$i.md"
done
wrong+=('a page without names' 'a link that leads nowhere')
pages+=("$work/empty.md" "$work/link.md")
printf 'nothing in `backticks` here\n' >"$work/empty.md"
printf '%s [there](nowhere.md)\n' "$good" >"$work/link.md"

if "$here/names.sh" "$root" "${pages[@]}" >"$work/said"; then
    printf 'FAILED: pages with wrong names passed\n'
    failed=1
fi
for i in "${!pages[@]}"; do
    if [ "$(grep -cF "${pages[$i]}: " "$work/said")" -ne 1 ]; then
        printf 'FAILED: not one complaint about %s\n' "${wrong[$i]}"
        failed=1
    fi
done

# Long lines of text are refused; those of tables, links, code, and code in a list are let be.
long=$(printf 'word %.0s' $(seq 21))
printf '%s\n' short "| $long |" "[there](there.md) $long" '' "    $long" '' '```' "$long" '```' '' "1. item" '' "        $long" \
    >"$work/lines.md"
"$here/lines.sh" "$work" lines.md || { printf 'FAILED: a page without long lines of text\n'; failed=1; }
for text in "$long" "- $long" "1. item"$'\n\n'"    $long"; do
    printf 'short\n\n%s\n' "$text" >"$work/lines.md"
    if "$here/lines.sh" "$work" lines.md >/dev/null; then
        printf 'FAILED: a long line passed: %s\n' "$text"
        failed=1
    fi
done

# Claims, sections and what refers to them.
rows=$'| C1 | one |\n| C2 | two, section 1 |\n\n**1. First.** As in section\n2, equation (7), sqrt(2).\n\n**2. Second.** See C1 and sections 1 and 2.\n\n**2.1. A part.** See section\n2.2.\n\n**2.2. Another.**'
printf '%s\n' "$rows" >"$work/claims.md"
printf 'C2, and (PRIVACY, section 2), PRIVACY, section 2.1, [PRIVACY.md](PRIVACY.md), section 1\n' >"$work/other.md"
"$here/sections.sh" "$work/claims.md" "$work/claims.md" "$work/other.md" || { printf 'FAILED: a page with right numbers\n'; failed=1; }
for text in '**2. Second again.**' '**4. Fourth.**' '| C4 | four |' 'See C3.' 'See section 3.' 'See sections 1 and 3.' 'See (2).' \
    'See section 2.3.' '**2.2. Again.**' '**2.4. Fourth.**' '**1.3. Elsewhere.**' 'See claim 1.' 'Clipped as in 2, those.' 'The same as 2.' '| 1 below |'; do
    printf '%s\n\n%s\n' "$rows" "$text" >"$work/claims.md"
    if "$here/sections.sh" "$work/claims.md" "$work/claims.md" >/dev/null; then
        printf 'FAILED: a wrong number passed: %s\n' "$text"
        failed=1
    fi
done
printf '%s\n' "$rows" >"$work/claims.md"
for text in 'See C3.' 'PRIVACY, section 3' 'PRIVACY, section 2.3' '[PRIVACY.md](PRIVACY.md), section 3' 'PRIVACY 2'; do
    printf '%s\n' "$text" >"$work/other.md"
    if "$here/sections.sh" "$work/claims.md" "$work/other.md" >/dev/null; then
        printf 'FAILED: a wrong number passed on another page: %s\n' "$text"
        failed=1
    fi
done

# Kinds of questions and their places on three pages. Without any of these places one is missed.
root=$(cd "$here/../.." && pwd)
ask() { "$here/questions.sh" "$root/common/query/query.c" "$work/PRIVACY.md" "$work/JOBS.md" "$work/STUDY.md"; }
cp "$root"/docs/{PRIVACY,JOBS,STUDY}.md "$work/"
ask || { printf 'FAILED: pages with all kinds of questions\n'; failed=1; }
for change in 'PRIVACY s/^(\*\*14\.[0-9]+\. Principal components) .`pca`./\1/' 'PRIVACY s/\*Release:\* the moments of/The moments of/' \
    'PRIVACY s/\*Sensitivity and proof:\*/As/' 'JOBS s/^#### pca/#### components/;s/`pca: /`components: /' \
    'STUDY s/^\| `pca` /| components /'; do
    page=${change%% *}
    cp "$work/$page.md" "$work/right.md"
    sed -E -i "${change#* }" "$work/$page.md"
    if ask >/dev/null; then
        printf 'FAILED: a missing place of a question passed: %s\n' "$change"
        failed=1
    fi
    cp "$work/right.md" "$work/$page.md"
done
exit "$failed"
