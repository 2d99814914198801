#!/bin/bash
# commands.sh - runs the plans that the pages show, as a reader would, and fails where one does not end
# well. What takes long or needs an earlier run is run by the tests of its own.
#
#     tests/docs/commands.sh FOLDER-OF-PROGRAMS ROOT PAGE...
set -euo pipefail
export LC_ALL=C

bin=$(cd "${1:?say where the programs are}" && pwd)
cd "${2:?say which tree to check}"
shift 2
said=$(mktemp)
trap 'rm -f "$said"' EXIT
count=0
failed=0
while IFS= read -r line; do
    line=${line#    }
    line=${line%%   #*}
    count=$((count + 1))
    if ! PATH=$bin:$PATH bash -euo pipefail -c "${line//build\/release\/bin\//}" >/dev/null 2>"$said"; then
        printf 'FAILED: %s\n' "$line"
        cat "$said"
        failed=1
    fi
done < <(grep -hE '^    .*hedgerow plan ' "$@" | grep -vE '\[|events\.json|JOB\.yml')
if [ "$count" -lt 5 ]; then
    printf 'FAILED: only %s commands were found\n' "$count"
    failed=1
fi
exit "$failed"
