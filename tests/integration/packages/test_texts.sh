#!/bin/bash
# test_texts.sh BUILD - manual pages and completions in the packages, against the programs themselves. bash and
# zsh complete every command that a program names when it refuses an unknown one. An option of any help text is
# completed after a command if, and only if, the command takes it.
. "$(dirname "$0")/common.sh"
mkdir "$work/all" "$work/folder"
for package in "$build"/packages/*.deb; do dpkg-deb -x "$package" "$work/all" || exit 1; done
usr=$work/all/usr
cd "$work/folder" || exit 1

# What a shell offers after each context of standard input: lines "CONTEXT|WORD". A context ends in the beginning
# of a word ("-" shows options, an empty word shows all).
cat >"$work/ask.bash" <<'BASH'
source "$1/share/bash-completion/completions/$2"
function=$(complete -p "$2" | sed 's/.*-F \([^ ]*\) .*/\1/')
while IFS= read -r context; do
    read -ra COMP_WORDS <<<"$context"
    COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    "$function"
    for word in "${COMPREPLY[@]}"; do printf '%s|%s\n' "$context" "$word"; done
done
BASH
cat >"$work/ask.zsh" <<'ZSH'
function compadd { for word in "${@[2,-1]}"; do printf '%s|%s\n' "$context_asked" "$word"; done }
function _files { }
while IFS= read -r context_asked; do
    words=(${=context_asked} '')
    CURRENT=${#words}
    source "$1/share/zsh/vendor-completions/_$2"
done
ZSH

# The contexts of a program: its commands, by what it says when it refuses a word.
daemon() {
    "$usr/bin/$1" no-such-command 2>&1 | sed -n 's/.*words* \(is\|are\) a command: \(.*\); try .*/\2/p' |
        sed 's/ or /, /g; s/, /\n/g; s/ NAME//g'
}
contexts() {
    local command
    echo "$1"
    case $1 in
    hedgerow)
        for command in $("$usr/bin/hedgerow" --help | sed -n '/^usage/,/--help/s/^  \([a-z]*\)  .*/\1/p'); do
            echo "$1 $command"
            "$usr/bin/hedgerow" "$command" --help | sed -n "/^parts:/,/--help/s/^  \($command [a-z-]*\)  .*/$1 \1/p"
        done
        ;;
    hedgerow-agent | hedgerow-coordinator) daemon "$1" | sed "s/^/$1 /" ;;
    esac
}
takes() { # PROGRAM-PATH WORDS... OPTION: the program reads nothing else behind it, so it ends at once
    [[ $(timeout 20 "$@" </dev/null 2>&1) != *"there is no option ${*: -1}"* ]]
}

for name in hedgerow hedgerow-agent hedgerow-coordinator hedgerow-agent-setup hedgerow-coordinator-setup; do
    path=$(echo "$usr"/*bin/"$name")
    contexts "$name" >"$work/contexts"
    [ "$name" != hedgerow-agent ] || printf 'hedgerow-agent peers %s\n' add remove list digest >>"$work/contexts"
    bash "$work/ask.bash" "$usr" "$name" <"$work/contexts" | sort -u >"$work/by-bash"
    zsh -f "$work/ask.zsh" "$usr" "$name" <"$work/contexts" | sort -u >"$work/by-zsh"
    cmp -s "$work/by-bash" "$work/by-zsh" || fault "$name: bash and zsh differ: $(diff "$work/by-bash" "$work/by-zsh" | head -n 5)"

    # Each command is offered after the words before it.
    sed -n 's/^\(.*\) \([^ ]*\)$/\1|\2/p' "$work/contexts" >"$work/commands"
    while IFS= read -r line; do
        if ! grep -qxF -- "$line" "$work/by-bash"; then
            echo "${line%%|*}" | bash "$work/ask.bash" "$usr" "$name" | grep -xF -- "$line" >/dev/null || fault "not completed: $line"
        fi
    done <"$work/commands"

    # What stands before a command is offered where a command is.
    while IFS= read -r option; do
        grep -qxF -- "$name|$option" "$work/by-bash" || fault "not completed: $name $option"
    done < <("$path" --help | sed -n '/^usage/,/^$/s/^ *[a-z-]* \(--[a-z]*\) NAME COMMAND.*/\1/p')

    # Each option, where the program takes it. There are 1,800, so bash itself looks up what is offered.
    declare -A is_offered=()
    while IFS= read -r line; do is_offered["$line"]=yes; done <"$work/by-bash"
    while IFS= read -r context; do
        read -ra words <<<"$context"
        "$path" "${words[@]:1}" --help </dev/null
    done <"$work/contexts" >"$work/help" 2>&1
    grep -oE -- '--[a-z][a-z0-9-]*' "$work/help" | sort -u | grep -vxE -- '--(help|version)' >"$work/options"
    asked=0
    while IFS= read -r context; do
        read -ra words <<<"$context"
        # A family takes no option itself; `study` runs a program that is never installed.
        case $context in hedgerow | hedgerow-agent | hedgerow-coordinator | 'hedgerow init' | 'hedgerow plan' | 'hedgerow study' | 'hedgerow-agent peers') continue ;; esac
        while IFS= read -r option; do
            offered=${is_offered["$context|$option"]:-no} taken=no
            ! takes "$path" "${words[@]:1}" "$option" || taken=yes
            [ $offered = $taken ] || fault "$context $option: completed: $offered, taken: $taken"
            asked=$((asked + 1))
        done <"$work/options"
    done <"$work/contexts"
    [ "$asked" -ge 2 ] || fault "$name: only $asked options were tried"

    # The manual page says what --help says, without a warning.
    page=$(echo "$usr"/share/man/man?/"$name".?.gz)
    MANWIDTH=200 man --warnings -E UTF-8 -l "$page" >"$work/page" 2>"$work/warnings"
    [ ! -s "$work/warnings" ] || fault "$name: $(head -n 3 "$work/warnings")"
    while IFS= read -r word; do
        grep -qF -- "$word" "$work/page" || fault "the manual page of $name lacks $word"
    done < <(cat "$work/options"; cut -d'|' -f2 "$work/by-bash" | grep -v '^--\(help\|version\)$')
    say "$name: $(wc -l <"$work/contexts") contexts, $(wc -l <"$work/by-bash") words, $asked options tried"
done
grep -qxF 'hedgerow|--at' < <(echo hedgerow | bash "$work/ask.bash" "$usr" hedgerow) || fault 'hedgerow --at is not completed'
[ -z "$(ls -A "$work/folder")" ] || fault "the programs wrote $(ls "$work/folder")"
finish
