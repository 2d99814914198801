# common.sh - what tests of commands share: a folder that is removed at the end, and expectations
# that are counted.
set -uo pipefail
export LC_ALL=C
programs=$1
root=$2
hedgerow=$programs/hedgerow
job=$root/compose/hospitals/fit.yml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

fault() {
    echo "FAILED: $*"
    faults=$((faults + 1))
}

# expect CODE COMMAND...: runs it; its output is in $work/out and $work/err.
expect() {
    local wanted=$1 code=0
    shift
    "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq "$wanted" ] || {
        fault "exit code $code, not $wanted: $*"
        tail -n 3 "$work/err"
    }
}

# says TEXT / says_not TEXT: about what the last command wrote to standard error.
says() { grep -qF -- "$1" "$work/err" || fault "standard error lacks: $1 ($(head -c 300 "$work/err"))"; }
says_not() { ! grep -qF -- "$1" "$work/err" "$work/out" || fault "the output holds: $1"; }
# A sentence that `check` breaks at 80 columns counts as one line.
prints() {
    grep -qF -- "$1" "$work/out" || sed ':a;N;$!ba;s/\n \{21\}/ /g' "$work/out" | grep -qF -- "$1" ||
        fault "standard output lacks: $1"
}

# shown PAGE: what a report or a study's page shows once its scripts ran.
shown() { node "$root/tests/unit/common/report/render.js" "$1"; }

finish() {
    [ "$faults" -eq 0 ] || exit 1
    echo "all expectations hold"
}
