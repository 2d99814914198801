# shellcheck shell=bash
# walk.sh - reads the walk of docs/WALK.md, for the tests that run it.
walk_machine=()
walk_command=()

# Fills the two arrays above: what a person types on which machine, in the page's order. More than 15 commands
# are a fault, and so is an indented line that belongs to no command.
read_walk() { # PAGE
    local line
    while IFS= read -r line; do
        line=${line#        }
        if [[ $line =~ ^([a-z0-9-]+)\$\ (.*) ]]; then
            walk_machine+=("${BASH_REMATCH[1]}")
            walk_command+=("${BASH_REMATCH[2]}")
        elif [ ${#walk_command[@]} -eq 0 ]; then
            fault "a line before the first command: $line"
        else
            walk_command[-1]+=$'\n'$line
        fi
    done < <(sed -n '/^## From two bare machines to a first result$/,/^## By hand/p' "$1" | grep -E '^(        |    [^ ]*\$ )')
    [ ${#walk_command[@]} -ge 1 ] || fault 'the page has no walk'
    [ ${#walk_command[@]} -le 15 ] || fault "the walk has ${#walk_command[@]} commands, and 15 are allowed"
}
