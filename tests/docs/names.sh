#!/bin/bash
# names.sh - fails if a page names a function, a test or a file that does not exist.
#
#     tests/docs/names.sh ROOT PAGE...
#
# It looks at text in backticks: `some_function`, `folder/file`, `file.c`, `test_file`, `test_file:
# name_of_a_test, ..._end_of_another`; and at links within the tree. Braces and stars are expanded; a path
# may leave out tests/ and its extension. It ignores formulas, keys of one word and commands. A page in
# which it looked nothing up fails too. self_test.sh plants a name of each kind.
set -euo pipefail
export LC_ALL=C

cd "${1:?say which tree to check}"
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missing=0

# The marks are the page's.
# shellcheck disable=SC2016
complain() {
    printf '%s: `%s`: %s\n' "$page" "$token" "$1"
    missing=1
}

# All words of the code and of the tests, once.
find agent common coordinator cli lab proto compose scripts tests -type f \
    \( -name '*.c' -o -name '*.h' -o -name '*.sh' -o -name '*.py' -o -name '*.proto' -o -name '*.yml' \) \
    -not -path 'tests/docs/*' -exec cat {} + | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/words"
find agent common coordinator cli lab proto compose scripts tests docs | sort >"$work/files"

# A lookup in memory: pages have thousands of tokens. Names count with and without their extension, and paths with
# and without tests/.
declare -A word basename path
while IFS= read -r one; do
    word[$one]=1
done <"$work/words"
while IFS= read -r one; do
    for name in "$one" "${one#tests/}"; do
        path[$name]=1
        [[ ! $name =~ ^(.+)\.[a-z]+$ ]] || path[${BASH_REMATCH[1]}]=1
    done
    name=${one##*/}
    basename[$name]=1
    [[ ! $name =~ ^(.+)\.[a-z]+$ ]] || basename[${BASH_REMATCH[1]}]=1
done <"$work/files"

has_word() { [ -n "${word[$1]:-}" ]; }

has_file() { [ -n "${basename[$1]:-}" ]; }

# As a path, below the root or below tests/.
has_path() {
    local pattern=${1//./\\.}
    if [[ $1 == *\** ]]; then
        grep -qE "^(tests/)?${pattern//\*/[^/]*}(\.[a-z]+)?$" "$work/files"
    else
        [ -n "${path[$1]:-}" ]
    fi
}

# `folder/test_file: name, ..._end`
check_tests() {
    local file=${1%%:*} name code
    code=$(grep -E "(^|/)${file}\.(c|sh|py)$" "$work/files") || { complain "no such test"; return; }
    for name in $(printf '%s' "${1#*:}" | tr ',' ' '); do
        # shellcheck disable=SC2086
        grep -qE "\b${name//.../[a-z0-9_]*}\b" $code || complain "not in $code: $name"
    done
}

check_token() {
    local one list
    if [[ $token =~ ^([a-z_]+/)*test_[a-z0-9_]+:\ [a-z0-9_.,\ ]+$ ]]; then
        check_tests "$token"
    elif [[ $token =~ ^(agent|common|coordinator|cli|lab|proto|compose|scripts|tests|docs|unit|property|exhaustive|statistical|integration|fault|sim|fuzz|layers)/[A-Za-z0-9_./*{},-]+$ ]]; then
        token=${token%/}
        set -f
        eval "list=($token)"
        set +f
        for one in "${list[@]}"; do
            has_path "$one" || complain "no such file: $one"
        done
    elif [[ $token =~ ^[a-z][a-z0-9_]*\.[ch]$ ]]; then
        has_file "$token" || complain "no such file"
    elif [[ $token =~ ^(test|bench)_[a-z0-9_]+$ ]]; then
        has_file "$token" || complain "no such test or bench"
    elif [[ $token =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)+$ ]]; then
        has_word "$token" || complain "no such name in the code"
    else
        return 0
    fi
    looked=$((looked + 1))
}

for page in "$@"; do
    looked=0
    # shellcheck disable=SC2016
    # Not in blocks of code: those are checked by what runs them. An item's text may be indented by four.
    awk '/^```/ {fence = !fence; next} fence {next}
        /^[^ ]/ {list = /^([-*]|[0-9]+\.|[A-I]\.) /}
        {match($0, /^ */)} RLENGTH < (list ? 7 : 4)' "$page" | tr '\n' ' ' | grep -oE '`[^`]+`' | tr -d '`' | sort -u >"$work/tokens" || true
    while IFS= read -r token; do
        check_token
    done <"$work/tokens"
    while IFS= read -r token; do
        [ -e "$(dirname "$page")/$token" ] || complain "leads nowhere"
    done < <(grep -oE '\]\([^):#]+[)#]' "$page" | sed 's/^..//; s/.$//')
    if [ "$looked" -eq 0 ]; then
        printf '%s: nothing in it was looked up\n' "$page"
        missing=1
    fi
done
exit "$missing"
