#!/bin/bash
# commands.sh - runs commands that the pages and `hedgerow plan PART --help` show, as a reader would, and fails
# if one does not end well: plans, and the first job from a table. Other tests run what takes long.
#
#     tests/docs/commands.sh FOLDER-OF-PROGRAMS ROOT PAGE...
set -euo pipefail
export LC_ALL=C

bin=$(cd "${1:?say where the programs are}" && pwd)
cd "${2:?say which tree to check}"
shift 2
work=$(mktemp -d)
said=$work/said
trap 'rm -rf "$work"' EXIT
count=0
failed=0

# run LINE: as it stands. Files that a line names are those of the tree, and the events of the manual.
ln -s "$PWD/compose" "$work/compose"
sed -n '/^    {"events": \[{/,/\]}$/p' docs/REFERENCE.md >"$work/events.json"
run() {
    count=$((count + 1))
    if ! (cd "$work" && PATH=$bin:$PATH bash -euo pipefail -c "$1") >/dev/null 2>"$said"; then
        printf 'FAILED: %s\n' "$1"
        cat "$said"
        failed=1
    fi
}

while IFS= read -r line; do
    line=${line#    }
    line=${line%%   #*}
    run "${line//build\/release\/bin\//}"
done < <(grep -hE '^    .*hedgerow plan ' "$@" | grep -vE '\[|JOB\.yml')

# A page's first job from a table: described, made a job, planned. The table is that of the hospitals.
ln -s compose/hospitals/flchain.csv "$work/TABLE.csv"
made=0
for page in "$@"; do
    while IFS= read -r line; do
        line=${line#    }
        run "${line%%   #*}"
        made=$((made + 1))
    done < <(grep -hE '^    hedgerow(-agent describe TABLE\.csv| init job) ' "$page" | grep -v '\[')
    [ ! -e "$work/job.yml" ] || run 'hedgerow plan job job.yml'
    rm -f "$work/job.yml" "$work/data.yml"
done
if [ "$made" -lt 2 ]; then
    echo 'FAILED: no page shows how a table becomes a job'
    failed=1
fi

# The examples of a help page, a line each; one goes on where a line ends with a backslash, a bar or a comma.
examples() {
    "$bin/hedgerow" plan "$1" --help |
        awk '/^example/ {on = 1; next} /^$/ {on = 0} !on {next}
            {sub(/^ +/, ""); go = /[\\|,]$/; sub(/\\$/, ""); printf "%s%s", $0, go ? " " : "\n"}'
}
for part in job compose calibrate hedge erm select online pac sq masks; do
    shown=$count
    while IFS= read -r line; do
        run "$line"
    done < <(examples "$part")
    if [ "$count" -eq "$shown" ]; then
        printf 'FAILED: hedgerow plan %s --help shows no example\n' "$part"
        failed=1
    fi
done
if [ "$count" -lt 20 ]; then
    printf 'FAILED: only %s commands were found\n' "$count"
    failed=1
fi
exit "$failed"
