#!/bin/bash
# runpath.sh - says which programs let the loader look for libraries in the current folder.
#
#     tests/layers/runpath.sh PROGRAM...
#
# A RUNPATH (or RPATH) may name absolute folders and $ORIGIN, the program's own. An empty or relative entry means
# the current folder, where anybody may have put a library. Ends with 1 and a sentence for each violation.
set -euo pipefail
export LC_ALL=C

violations=0
for program; do
    while read -r path; do
        while IFS= read -r -d : entry; do
            case $entry in
            /* | '$ORIGIN' | '$ORIGIN'/*) ;;
            *)
                printf 'bin/%s: its RUNPATH "%s" has an entry that is neither absolute nor $ORIGIN\n' \
                    "$(basename "$program")" "$path"
                violations=1
                break
                ;;
            esac
        done <<<"$path:"
    done < <(readelf -d "$program" 2>/dev/null | sed -nE 's/.*\(R(UN)?PATH\).*\[(.*)\]$/\2/p')
done
exit "$violations"
