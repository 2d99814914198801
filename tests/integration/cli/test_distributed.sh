#!/bin/bash
# Trust distributed by one word, from a job to its report: real programs whose coordinator reads masked sums alone. Each task
# that has Laplace noise runs, in a federation of five sites, one of which may be dishonest.
. "$(dirname "$0")/common.sh"
records=$root/compose/hospitals/flchain.csv

# head_of: the hospitals' job up to its stages, with masked sums.
head_of() {
    sed -e '/^stages:/,$d' -e 's/trust: local .*/trust: distributed/' \
        -e 's/^  minimum: .*/  minimum: 4\n  dishonest: 1\n  records: 1254/' "$job"
}
# runs NAME STAGE...: simulates a job of these stages.
runs() {
    local name=$1
    shift
    { head_of; echo stages:; printf '  - {%s}\n' "$@"; } >"$work/$name.yml"
    expect 0 "$hedgerow" simulate "$work/$name.yml" --data "$records" --out "$work/$name" --seed 4
    grep -q '"trust": "distributed"' "$work/$name/result.json" || fault "$name: the result tells another trust"
    grep -q 'read their noisy sum alone' "$work/$name/result.json" || fault "$name: the result does not tell what was sent"
    ! grep -l '"level":"warning"' "$work/$name"/logs/*.log | xargs -r grep -hE 'refused|masks-lost|forged' ||
        fault "$name: something was refused"
}

runs choice 'task: fit, loss: logistic, lambdas: [0.005], share: 0.7, tolerance: 0.000001, grid_bits: 16, experts: {shifts: [0.25]}' \
    'task: losses, strategy: rwm, loss: zero_one, rounds: 3, batch: 400, share: 0.3, grid_bits: 16'
# The average of five sites' models at epsilon 0.7, with the noise of two for five sites: far above the 74.5 % of the
# larger class.
accuracy=$(sed -nE 's/^ *chosen: .* ([0-9.]+)% .*/\1/p' "$work/out")
awk -v a="$accuracy" 'BEGIN { exit !(a > 77) }' || fault "the choice is right in $accuracy %"
runs question 'task: query, queries: ["count: age >= 70"], batch: 1254, share: 1, grid_bits: 10'
runs paper 'task: query, share: 1, batch: 1254, grid_bits: 10, queries: ["table1: [age, sex, kappa] by death", "crosstab: sex x death", "survival: time age event death by sex, to 90", "evaluate: age for death, cut at 74", "correlate: [age, kappa, sex]", "pca: [age, kappa]", "regress: death ~ age + sex + kappa"]'
# One noise for all sites, up to a factor: the share of women is 55 %.
"$hedgerow" report "$work/paper/result.json" --format md >"$work/tables" || fault 'paper: no tables'
women=$(sed -nE 's/^\| sex, F, share \|.*\| ([0-9.]+) % \|[^|]*\|$/\1/p' "$work/tables")
awk -v w="$women" 'BEGIN { exit !(w > 45 && w < 65) }' || fault "paper: $women % are women"
runs moments 'task: statistics, lambdas: [0.01], share: 1, batch: 1254, grid_bits: 16'
runs steps 'task: update, loss: logistic, rounds: 3, batch: 300, clip: 1, rate: 1, noise: laplace, share: 1, grid_bits: 16'
# Gaussian noise leaves in shares as well; the ledgers hold what the sum of shares lacks of it, as a delta of their own.
runs_with_delta() {
    job_without=$job job=$work/with-delta.yml
    sed 's/^  delta: 0$/  delta: 0.00001/' "$job_without" >"$job"
    runs "$@"
    job=$job_without
    for state in "$work/$1"/agents/*; do
        (cd "$state" && "$programs/hedgerow-agent" ledger --json --config agent.yml) | python3 -c '
import json, sys
charges = json.load(sys.stdin)["charges"]
assert charges and all(c["event"]["mechanism"] == "discrete_gaussian" and 0 < c["event"]["delta"] < 1e-12 for c in charges), charges' ||
            fault "$1: the charges"
    done
}
runs_with_delta moments-gaussian 'task: statistics, lambdas: [0.01], batch: 1254, noise: gaussian, grid_bits: 16'
runs_with_delta steps-gaussian 'task: update, loss: logistic, rounds: 3, batch: 300, clip: 1, rate: 1, noise: gaussian, grid_bits: 16'
runs_with_delta question-gaussian 'task: query, queries: ["count: age >= 70", "mean: age"], batch: 1254, noise: gaussian, grid_bits: 10'
runs_with_delta paper-gaussian 'task: query, noise: gaussian, batch: 1254, grid_bits: 10, queries: ["table1: [age, sex, kappa] by death", "survival: time age event death by sex, to 90", "evaluate: age for death, cut at 74", "correlate: [age, kappa, sex]"]'
runs_with_delta itself-gaussian 'task: learn'
runs candidate 'task: select, candidates: {stumps: [age, kappa], thresholds: 4}, batch: 1254, share: 1'
runs kernels 'task: predict, loss: squared, lambdas: [0.05], kernel: {kind: gaussian, gamma: 1}, points: [[55, F, 1999, 1, 1, 1, "0"], [85, M, 1999, 2, 2, 1, "1"]], share: 1, grid_bits: 16'
runs stream 'task: online, rounds: 3, t0: 100, share: 1, grid_bits: 32'
runs itself 'task: learn'
finish
