#!/bin/bash
# `hedgerow audit`: what it prints, as text and as JSON, and its refusals. Every audit here fails with
# probability 1e-6 for a right program: there are 14.
. "$(dirname "$0")/common.sh"

audit() { "$hedgerow" audit "$@"; }

# The help names every mechanism.
expect 0 audit --help
prints 'example:'
prints 'exit codes:'
cp "$work/out" "$work/help"
expect 2 audit nothing
says 'there is no mechanism "nothing"; there are laplace, laplace-vector'
says 'and all'
for name in $(sed 's/.*there are //; s/, and all//; s/,//g; 1q' "$work/err"); do
    grep -q "^  $name " "$work/help" || fault "--help does not name $name"
done

# The command line. There is no --seed: an audit that can be repeated is for tests.
expect 2 audit
says 'hedgerow audit: MECHANISM is missing'
expect 2 audit laplace --seed 1
says '--seed'
for epsilon in 0 -1 nan 1e-9 one; do
    expect 2 audit laplace --epsilon "$epsilon"
    says '--epsilon wants a number above 0'
done
for delta in 0 1 -1 nan x; do
    expect 2 audit gaussian --delta "$delta"
    says '--delta wants a number above 0 and below 1'
done
for samples in 0 999 134217729 many; do
    expect 2 audit laplace --samples "$samples"
    says '--samples'
done
for sensitivity in 0 -1 2e40; do
    expect 2 audit laplace --sensitivity "$sensitivity"
    says '--sensitivity'
done
expect 2 audit theorem --epsilon 2
says 'theorem 11.2 holds for epsilon up to 1'
expect 2 audit laplace --epsilon 0.000001 --sensitivity 1099511627776
says 'is outside the scales 1/16 .. 2^40'
expect 1 sh -c "'$hedgerow' audit laplace --samples 1000 >/dev/full"

# What is printed.
expect 0 audit laplace --epsilon 0.5 --samples 100000
prints 'claimed    epsilon 0.5'
prints 'audited    epsilon at least 0.4'
prints 'ratio      0.'
prints "answers under x'"
[ "$(grep -c '##########' "$work/out")" -ge 2 ] || fault 'no distribution is drawn'
says_not '%'
expect 0 audit gaussian --epsilon 1 --samples 100000
prints 'epsilon 1 at delta 0.01'
expect 0 audit all --epsilon 2 --samples 1000
prints 'permute-and-flip'
says 'theorem is left out: theorem 11.2 holds for epsilon up to 1'
! grep -q '^theorem' "$work/out" || fault 'theorem was audited at epsilon 2'

# As JSON, with numbers that fit together; and two audits never use the same noise.
expect 0 audit permute-and-flip --epsilon 1.5 --samples 100000 --json
cp "$work/out" "$work/first.json"
python3 - "$work/first.json" <<'PYTHON' || fault 'the JSON is not what it should be'
import json, math, sys
(audit,) = json.load(open(sys.argv[1]))["audits"]
assert audit["mechanism"] == "permute-and-flip" and audit["claimed"] == 1.5 and audit["delta"] == 0
assert audit["holds"] and audit["tight"] and audit["samples"] == 100000
assert 1.3 < audit["audited"] <= 1.5 and abs(audit["ratio"] - audit["audited"] / 1.5) < 1e-12
event, histogram = audit["event"], audit["histogram"]
for side in 0, 1:
    assert sum(histogram["counts"][side]) == event["trials"] >= 80000
likely, other = event["hits"][event["side"]], event["hits"][1 - event["side"]]
assert audit["audited"] < math.log(likely / other)
PYTHON
expect 0 audit permute-and-flip --epsilon 1.5 --samples 100000 --json
! cmp -s "$work/out" "$work/first.json" || fault 'two audits gave the same counts'
finish
