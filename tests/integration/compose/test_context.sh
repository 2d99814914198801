#!/bin/bash
# test_context.sh - checks of the containers without an engine: the files that .dockerignore admits are
# enough to configure the image's build, and the policies that `up` writes allow its job.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Configures from the paths listed on standard input; answers whether it could.
configures() {
    rm -rf "$work/source" "$work/build"
    mkdir "$work/source"
    (cd "$root" && xargs cp -r --parents -t "$work/source")
    cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHOUSE_TESTS=OFF \
        >"$work/log" 2>&1
}

if ! sed -n 's/^!//p' "$root/.dockerignore" | configures; then
    tail -n 20 "$work/log"
    echo 'FAILED: the image cannot be configured from what .dockerignore lets through'
    exit 1
fi
for target in hedgerow hedgerow-agent hedgerow-coordinator; do
    grep -q "^build $target: phony" "$work/build/build.ninja" || { echo "FAILED: no $target"; exit 1; }
done
# Planted: without one of the folders it fails.
if sed -n 's/^!//p' "$root/.dockerignore" | grep -v '^tests/' | configures; then
    echo 'FAILED: a build without tests/support is configured all the same'
    exit 1
fi
# What a federation's hospitals or stations allow covers the tasks of the job that `up` brings along.
for up in "$root"/compose/*/up; do
    while read -r task; do
        grep -qE "^tasks: \[([a-z]+, )*$task(, [a-z]+)*\]$" "$up" || { echo "FAILED: $up does not allow $task"; exit 1; }
    done < <(sed -n 's/.*task: *\([a-z]*\).*/\1/p' "${up%/up}/job.yml")
done
echo 'test_context: passed'
