#!/bin/bash
# `hedgerow plan hedge | erm | select | online | pac | sq | masks`: known answers through the real program, numbers
# outside a theorem's range, and wrong command lines.
. "$(dirname "$0")/common.sh"

plan() { "$hedgerow" plan "$@"; }
hedge='hedge --experts 10 --rounds 1000 --epsilon 1 --delta 1e-6'
erm='erm --loss hinge --records 1000 --bound 1 --kappa 1 --epsilon 1 --lambda 0.01'
select='select --rule least_squares_fixed --records 1000 --exponent 0.5 --epsilon 1'
online='online --theta 0.75 --t0 5 --kappa 1 --bound 1 --time 100 --epsilon 1'
pac='pac --candidates 1000 --alpha 0.05 --beta 0.05 --epsilon 0.5'
sq='sq --queries 20 --tolerance 0.05 --beta 0.05 --epsilon 1 --agents 5'
masks='masks --sites 32 --dishonest 8 --honest 13'

# changed "PART --KEY VALUE ..." KEY VALUE...: the command with other values of some keys, in $command; a key
# that is not there is added, the value - takes one away.
changed() {
    local -a word
    read -ra word <<<"$1"
    shift
    command=("${word[0]}")
    local i name found
    local -A other=()
    while [ $# -gt 0 ]; do
        other[$1]=$2
        shift 2
    done
    for ((i = 1; i < ${#word[@]}; i += 2)); do
        name=${word[i]}
        found=${other[$name]-${word[i + 1]}}
        [ "$found" = - ] || command+=("$name" "$found")
        unset "other[$name]"
    done
    for name in "${!other[@]}"; do
        command+=("$name" "${other[$name]}")
    done
}

# refused SENTENCE "PART ..." KEY VALUE...: exit code 2, the sentence, and no number.
refused() {
    local sentence=$1
    shift
    changed "$@"
    expect 2 plan "${command[@]}"
    says "$sentence"
    says "try: hedgerow plan ${command[0]} --help"
    [ ! -s "$work/out" ] || fault "an answer was printed: ${command[*]}"
}

expect 0 plan --help
for part in "$hedge" "$erm" "$select" "$online" "$pac" "$sq" "$masks"; do
    read -ra words <<<"$part"
    prints "plan ${words[0]} "
done
for part in "$hedge" "$erm" "$select" "$online" "$pac" "$sq" "$masks"; do
    read -ra words <<<"$part"
    name=${words[0]}
    expect 0 plan "$name" --help
    prints 'example:'
    prints "  hedgerow plan $name --"
    expect 0 plan "${words[@]}"
    expect 0 plan "${words[@]}" --json
    expect 2 plan "$name"
    says "try: hedgerow plan $name --help"
    expect 2 plan "${words[@]}" --nonsense 1
    says 'there is no option --nonsense'
    expect 2 plan "${words[@]}" "${words[1]}" "${words[2]}"
    says 'given twice'
    # Every option without a value, with a text, with numbers out of its range; and without the
    # option.
    wrong=('' NaN inf 1e999 -1 0)
    [ "$name" != erm ] || wrong+=(nan -inf 0x1 '1,5' -1e300 word)
    for ((i = 1; i < ${#words[@]}; i += 2)); do
        for bad in "${wrong[@]}"; do
            expect 2 plan "${words[@]:0:i+1}" "$bad" "${words[@]:i+2}"
            [ ! -s "$work/out" ] || fault "an answer with ${words[i]} '$bad'"
        done
        case ${words[i]} in --agents | --honest) continue ;; esac
        expect 2 plan "${words[@]:0:i}" "${words[@]:i+2}"
    done
done

# Outside of the theorems.
refused 'theorem 11.2 holds for epsilon up to 1' "$hedge" --epsilon 1.001
refused 'theorem 11.2 needs a delta above 0' "$hedge" --delta 0
refused 'strategy rwm' "$hedge" --epsilon 2
refused 'theorem 11.2 holds' "$hedge" --epsilon 2 --strategy theorem
refused 'delta must be' "$hedge" --delta 1
refused 'say how many records there are' "$hedge" --participations 5
refused 'participations' "$hedge" --records 5 --participations 4294967296
refused 'there is no such bound on its realised loss' "$hedge" --strategy dartboard --beta 0.1
refused '--beta must lie' "$hedge" --beta 1
refused '--strategy must be' "$hedge" --strategy best
refused '--experts wants a whole number' "$hedge" --experts 9007199254740993
refused '--rounds wants a whole number' "$hedge" --rounds 1.5
expect 0 plan hedge --experts 10 --rounds 1000 --epsilon 2 --delta 0 --strategy rwm --strategy epochs
prints 'the least bound: epochs'
refused '--loss must be' "$erm" --loss zero_one
refused '--loss must be' "$erm" --loss quadratic
refused 'lambda must be at most 1 for least squares' "$erm" --loss least_squares --lambda 1.0001
expect 0 plan erm --loss squared --records 10 --bound 1 --kappa 1 --epsilon 1 --lambda 1
refused 'needs --tau' "$erm" --loss pinball
refused 'has no --tau' "$erm" --tau 0.5
refused 'has no --width' "$erm" --loss huber --threshold 1 --width 0.1
refused '' "$erm" --loss pinball --tau 1
refused 'kappa must lie above 0' "$erm" --kappa 1e300
refused 'lambda must lie' "$erm" --lambda 1e-300
refused '--records wants a whole number' "$erm" --records 1e3
refused '--rule must be' "$select" --rule fixed
refused 'needs --epsilon' "$select" --epsilon -
refused 'at most 1.25' "$select" --epsilon 1.2501
refused 'holds up to epsilon = 1' "$select" --epsilon 1.2 --kappa 1 --bound 1 --source-norm 1
refused 'all three' "$select" --kappa 1
refused 'chooses epsilon itself' "$select" --rule lipschitz
refused 'beta of the approximation error' "$select" --rule lipschitz --epsilon - --exponent 1.5
refused 'source condition' "$select" --exponent 17
refused 'theta must lie above 1/2 and below 1' "$online" --theta 0.5
refused 'theta must lie above 1/2 and below 1' "$online" --theta 1
refused 'take t0 = 3 or more' "$online" --t0 2
refused 'take t0 = 9 or more' "$online" --kappa 2
refused '--time must be at most 2^52' "$online" --time 9007199254740992
refused 'kappa, the features' "$online" --kappa 1e7
refused 'alpha, the excess error' "$pac" --alpha 1
refused 'beta, the probability' "$pac" --beta 1
refused '2^53 records or more' "$pac" --alpha 1e-9
refused 'the tolerance must lie' "$sq" --tolerance 1
refused '2^53 records or more' "$sq" --epsilon 1e-300
refused 'take at most 24 honest ones' "$masks" --honest 25
refused 'no site is left whose noise counts' "$masks" --dishonest 32
refused 'a masked sum has at most 255 sites' "$masks" --sites 256

# What a person reads: units, ranges, what would help.
changed "$hedge"
expect 0 plan "${command[@]}"
prints 'oblivious losses: fixed before the first play'
prints 'the least bound: dartboard'
changed "$hedge" --records 100000
expect 0 plan "${command[@]}"
prints 'Privacy is free here'
changed "$hedge" --rounds 10
expect 0 plan "${command[@]}"
prints 'What helps: more rounds'
changed "$erm" --records 20
expect 0 plan "${command[@]}"
prints 'The noise drowns the answers'
changed "$erm"
expect 0 plan "${command[@]}"
prints "ONE point's answer"
says_not 'drowns'
changed "$select"
expect 0 plan "${command[@]}"
prints 'of ONE institution'
prints 'epsilon <= 1.25, lambda <= 1'
changed "$online"
expect 0 plan "${command[@]}"
prints 'releases after the records 6, 16, 36, 76'
changed "$online" --time 5 --epsilon 0.2
expect 0 plan "${command[@]}"
prints 'The noise drowns the answers'
says_not 'after the records'
changed "$pac"
expect 0 plan "${command[@]}"
prints 'Privacy is free here'
changed "$sq"
expect 0 plan "${command[@]}"
prints 'trust local, n is the sum over all agents'
changed "$masks"
expect 0 plan "${command[@]}"
prints 'Up to 11 of the 32 sites may be absent'
prints 'the sum carries 1/13 of a noise less'
prints '         21      1.615       1.271       4.583'
prints '         32      2.462       1.569       5.657'
expect 0 plan masks --sites 32 --dishonest 8 --json
prints '"opens_at": 21'
prints '"honest": 13'
expect 0 plan masks --sites 5 --dishonest 1 --json
prints '"opens_at": 4'
prints '"absent_most": 1'
expect 0 plan masks --sites 5 --dishonest 4
prints 'Every site is needed'
# A job with distributed trust has to say how many sites it counts on.
sed 's/trust: *[a-z]*/trust: distributed/' "$job" >"$work/distributed.yml"
grep -q 'trust: distributed' "$work/distributed.yml" || fault 'the job names no trust'
expect 3 plan job "$work/distributed.yml" --agents 5
says 'cohort.dishonest: is missing: say how many sites may help the coordinator'
expect 1 sh -c "'$hedgerow' plan $pac --json >/dev/full"

python3 "$(dirname "$0")/planner_vectors.py" "$hedgerow" "$root/tests/vectors/planner.json" ||
    fault 'known answers'
finish
