#!/bin/bash
# `hedgerow plan compose` and `plan calibrate`: known answers through the real program, in both
# directions, and its refusals.
. "$(dirname "$0")/common.sh"

plan() { "$hedgerow" plan "$@"; }
good='{"events": [{"mechanism": "laplace", "scale": 20, "count": 100}]}'
printf '%s' "$good" >"$work/good.json"

# Help, and the behaviour of `plan` without a part.
expect 0 plan --help
prints 'plan compose'
prints 'plan calibrate'
expect 2 plan
says 'try: hedgerow plan --help'
expect 2 plan nonsense
says 'there is no part "nonsense"'
for part in compose calibrate; do
    expect 0 plan $part --help
    prints 'example:'
    prints 'exit codes:'
    expect 2 plan $part
    says "hedgerow plan $part: --events FILE is missing"
    says "try: hedgerow plan $part --help"
done

# The command line.
expect 2 plan compose --events "$work/good.json"
says 'give --delta D, to learn epsilon, or --epsilon E, to learn delta'
expect 2 plan compose --events "$work/good.json" --delta 1e-6 --epsilon 1
says 'are both given'
for delta in -1 1 1e3 nan inf 0,5 1e-6x 0x1 ''; do
    expect 2 plan compose --events "$work/good.json" --delta "$delta"
    says '--delta'
done
for epsilon in -1 nan inf 1e999 one; do
    expect 2 plan compose --events "$work/good.json" --epsilon "$epsilon"
    says '--epsilon'
done
expect 2 plan compose --events "$work/good.json" --delta 0 --delta 0
says 'given twice'
expect 2 plan calibrate --events "$work/good.json" --epsilon 0 --delta 0
says '--epsilon must be above 0'
expect 2 plan calibrate --events "$work/good.json" --epsilon 1
says '--delta D is missing'
expect 2 plan calibrate --events "$work/good.json" --epsilon 1 --delta 1
says '--delta must be at least 0 and below 1'

# Files: missing, a folder, too large; standard input.
expect 3 plan compose --events "$work/nowhere.json" --delta 0
says "$work/nowhere.json: cannot be opened"
expect 3 plan compose --events "$work" --delta 0
says 'is a folder'
head -c 16000001 /dev/zero | tr '\0' ' ' >"$work/large.json"
expect 3 plan compose --events "$work/large.json" --delta 0
says 'larger than 16000000 bytes'
expect 3 sh -c "'$hedgerow' plan compose --events - --delta 0 <'$work/large.json'"
says 'standard input: larger than 16000000 bytes'
expect 3 sh -c "'$hedgerow' plan compose --events - --delta 0 </dev/null"
says 'standard input: line 1, column 0: not JSON'
expect 0 sh -c "'$hedgerow' plan compose --events - --delta 0 --json <'$work/good.json'"
cp "$work/out" "$work/piped"
expect 0 plan compose --events "$work/good.json" --delta 0 --json
cmp -s "$work/out" "$work/piped" || fault 'standard input and a file give different answers'
expect 1 sh -c "'$hedgerow' plan compose --events '$work/good.json' --delta 0 >/dev/full"

# refused SENTENCE: the text on standard input is no file of events, and standard output stays empty.
refused() {
    cat >"$work/bad.json"
    expect 3 plan compose --events "$work/bad.json" --delta 1e-6 --json
    says "hedgerow plan compose: $work/bad.json: $1"
    [ ! -s "$work/out" ] || fault "an answer was printed for: $(cat "$work/bad.json")"
}
second() { printf '{"events": [{"mechanism": "laplace", "scale": 1}, %s]}' "$1"; }
refused 'line 1, column 0: not JSON' </dev/null
refused 'line 1, column 6: not JSON' <<<'events'
refused 'must be {"events": [...]}, and nothing beside "events"' <<<'[]'
refused 'must be {"events": [...]}, and nothing beside "events"' <<<'{"event": []}'
refused 'must be {"events": [...]}, and nothing beside "events"' <<<'{"events": [], "delta": 1}'
refused '"events" has 0 events: write 1 to 100000' <<<'{"events": []}'
refused 'event 2: must be an object' < <(second '"laplace"')
refused 'event 2: "mechanism" is missing: it must be laplace' < <(second '{"scale": 1}')
refused 'event 2: "mechanism" must be laplace' < <(second '{"mechanism": "noise", "scale": 1}')
refused 'event 2: "sigma" does not belong to laplace: give "scale"' < <(second '{"mechanism": "laplace", "sigma": 1}')
refused 'event 2: "sigma" is missing: gaussian needs it' < <(second '{"mechanism": "gaussian"}')
refused 'event 2: "epsilon" must be a number, without quotes' < <(second '{"mechanism": "pure", "epsilon": "1"}')
refused 'event 2: epsilon must be a finite number above 0' < <(second '{"mechanism": "pure", "epsilon": 0}')
refused 'event 2: sigma must be a finite number above 0' < <(second '{"mechanism": "gaussian", "sigma": -2}')
refused 'line 1, column 86: not JSON' < <(second '{"mechanism": "pure", "epsilon": NaN}')
refused 'line 1, column 88: a number is too large' < <(second '{"mechanism": "pure", "epsilon": 1e999}')
refused 'line 1, column 95: a field is given twice' < <(second '{"mechanism": "pure", "epsilon": 1, "epsilon": 1}')
refused 'event 2: "eps" is no field of an event; the fields are mechanism, scale' < <(second '{"mechanism": "pure", "epsilon": 1, "eps": 1}')
refused 'event 2: "count" must be a whole number from 0 to 2^53' < <(second '{"mechanism": "pure", "epsilon": 1, "count": 2.5}')
refused 'event 2: "count" must be a whole number from 0 to 2^53' < <(second '{"mechanism": "pure", "epsilon": 1, "count": -1}')
refused 'event 2: "count" must be a whole number from 0 to 2^53' < <(second '{"mechanism": "pure", "epsilon": 1, "count": 1e17}')
refused 'event 2: sampling must be above 0 and at most 1' < <(second '{"mechanism": "pure", "epsilon": 1, "sampling": 0}')
refused 'event 2: sampling must be above 0 and at most 1' < <(second '{"mechanism": "pure", "epsilon": 1, "sampling": 1.5}')
refused 'event 2: delta must be at least 0 and below 1' < <(second '{"mechanism": "pure", "epsilon": 1, "delta": 1}')
refused 'event 2: sensitivity must be 1, or left out' < <(second '{"mechanism": "pure", "epsilon": 1, "sensitivity": 2}')
refused 'event 2: sensitivity must be a whole number for discrete noise' < <(second '{"mechanism": "discrete_gaussian", "sigma": 1, "sensitivity": 1.5}')
refused 'event 2: "neighbours" must be replace-one or add-remove' < <(second '{"mechanism": "pure", "epsilon": 1, "neighbours": "hamming"}')
refused 'event 2: neighbours is add-remove, but event 1 says replace-one' < <(second '{"mechanism": "pure", "epsilon": 1, "neighbours": "add-remove"}')
refused 'line 1, column 2049: too many lists in one another' < <(head -c 3000 /dev/zero | tr '\0' '[')
refused 'more than 100000 events' < <(printf '{"events": ['; yes '{},' | head -n 200000; echo '{}]}')

# Epsilons so large that a lie is rarer than e^-70, beside tiny ones. Planted: this list once stopped
# the program. Those of the large ones add up; a delta of a half takes away ln 2, and 765 times 1e-5 no
# more than 0.008 on either side. (What Laplace noise alone promises, pld, is below the sum.)
echo '{"events": [{"mechanism": "laplace", "scale": 0.013, "count": 1366},
                  {"mechanism": "laplace", "scale": 100000, "count": 765}]}' >"$work/strong.json"
expect 0 plan compose --events "$work/strong.json" --delta 0.5
prints '  basic         105076.931 '
prints '  optimal        105076.23 '
prints '* pld           10371'
prints 'certified: the truth lies between 10371'
expect 0 plan compose --events "$work/strong.json" --delta 0.999
prints '  optimal       105070.01'

# calibrate refuses a budget that no noise keeps.
echo '{"events": [{"mechanism": "gaussian", "sigma": 1}]}' >"$work/gaussian.json"
expect 5 plan calibrate --events "$work/gaussian.json" --epsilon 1 --delta 0
says 'gaussian.json: event 1: gaussian noise keeps no epsilon at delta 0: give a delta above 0'

# What a person reads.
expect 0 plan compose --events "$work/good.json" --delta 1e-6
prints '* pld'
prints 'certified: the truth lies between'
prints 'plus 1e-06,'
prints 'if one record had been another one.'
expect 0 plan compose --events "$work/gaussian.json" --delta 0
prints 'No epsilon is enough at this delta: give a larger --delta'
expect 0 plan calibrate --events "$work/gaussian.json" --epsilon 1 --delta 1e-6
prints 'verified: together they cost at most epsilon'

python3 "$(dirname "$0")/plan_vectors.py" "$hedgerow" "$root/tests/vectors/dp_vectors.json" ${VECTORS:+"$VECTORS"} ||
    fault 'known answers'
finish
