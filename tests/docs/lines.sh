#!/bin/bash
# lines.sh - fails when a line of a page's text has more than 100 characters. Blocks of code, tables and lines
# with a link are left out.
#
#     tests/docs/lines.sh ROOT PAGE...
set -euo pipefail
export LC_ALL=C

cd "${1:?say which tree to check}"
shift
awk 'FNR == 1 {fence = 0; list = 0}
    /^ *```/ {fence = !fence; next}
    fence || /^\|/ {next}
    /^[^ ]/ {list = /^([-*]|[0-9]+\.|[A-I]\.) /}
    {match($0, /^ */); lines++}
    RLENGTH >= (list ? 7 : 4) || /\]\(|https?:/ {next}
    length > 100 {printf "%s:%d: %d characters, more than 100\n", FILENAME, FNR, length; failed = 1}
    END {if (lines < 1) print "no line was looked at"; exit failed || lines < 1}' "$@"
