#!/bin/bash
# self_test.sh - plants a wrong name of each kind into a page and sees names.sh refuse each one; the
# page without them passes.
# shellcheck disable=SC2016 # the marks are the page's
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

good='`ledger_spend` in `agent/gate.c`, `filter.h`; `unit/common/dp/test_filter`, `statistical/common/noise/test_laplace_{fit,low}`,
`unit/common/noise/test_laplace*`, `bench_noise`, `test_gate: a_round_is_answered_once_whatever_is_asked`,
`tests/sim`; `ceil(sqrt(d) Delta_2/g) + d`, `epsilon`, `hedgerow plan compose`'

try() { # wanted exit code, what, page's text
    printf '%s\n' "$3" >"$work/page.md"
    local code=0
    "$here/names.sh" "$root" "$work/page.md" >"$work/said" || code=$?
    if [ "$code" -ne "$1" ]; then
        printf 'FAILED: %s: ended with %s, not %s\n' "$2" "$code" "$1"
        cat "$work/said"
        failed=1
    fi
}

try 0 'a page whose names are all there' "$good"
try 1 'a page without names' 'nothing in `backticks` here'
for wrong in ledger_spending agent/gates.c filters.h unit/common/dp/test_filters \
    'statistical/common/noise/test_laplace_{fit,lower}' 'unit/common/noise/test_laplacian*' bench_nothing \
    test_nothing 'test_gate: a_round_is_answered_twice' 'test_gate: a_round_is_answered_once_whatever_is_asked, ..._to_nobody_at_all' \
    'test_gates: a_round_is_answered_once_whatever_is_asked'; do
    try 1 "$wrong" "$good and \`$wrong\`"
done
printf 'there' >"$work/there.md"
try 0 'a link to a page that is there' "$good [there](there.md), [far](https://example.org/x), [here](#here)"
try 1 'a link to a page that is not' "$good [there](nowhere.md)"
exit "$failed"
