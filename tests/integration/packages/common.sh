# shellcheck shell=bash disable=SC2034
# common.sh - what the tests of the Debian packages share.
set -uo pipefail
export LC_ALL=C
build=$(cd "$1" && pwd) # a build from which `cpack -G DEB` made packages
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fault() {
    echo "FAILED: $*"
    faults=$((faults + 1))
}
finish() {
    [ "$faults" -eq 0 ] || exit 1
    say 'all expectations hold'
}
