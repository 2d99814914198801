#!/bin/bash
# keys.sh - fails if docs/REFERENCE.md lacks a key that the programs read, as `--help` says that it has
# every key. It looks at the tables of keys of settings, policy and data dictionary.
#
#     tests/docs/keys.sh ROOT PAGE
set -euo pipefail
export LC_ALL=C

cd "${1:?say which tree to check}"
page=${2:?say which page}
count=0
failed=0
while IFS= read -r key; do
    count=$((count + 1))
    if ! grep -qE "(^|[ {#\`])$key:" "$page"; then
        printf '%s: does not tell the key %s\n' "$page" "$key"
        failed=1
    fi
done < <(sed -nE 's/^ +KEY_[A-Z]+\("([a-z_]+)",.*/\1/p' common/config/settings.c agent/policy.c common/dictionary/dictionary.c | sort -u)
if [ "$count" -lt 30 ]; then
    printf 'only %s keys were found\n' "$count"
    failed=1
fi
exit "$failed"
