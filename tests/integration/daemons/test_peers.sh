#!/bin/bash
# Signing keys and the list of peers that a site keeps by hand: what a person types, refusals with their remedies,
# and a digest by which two sites compare what they have approved.
. "$(dirname "$0")/../cli/common.sh"
agent=$programs/hedgerow-agent
cd "$work" || exit 1

expect 0 "$agent" init .
for key in one two old; do expect 0 "$hedgerow" keygen --out $key; done
sed -i 's/^key:.*/key: one/' agent.yml
signing() { sed -n 's/^signing //p' "$1"; }
peers() { local code=$1 action=$2; shift 2; expect "$code" "$agent" peers "$action" "$@" --config agent.yml; }

# A list that the policy names, changed as a whole.
sed -i '/^ *peers:/d' policy.yml
peers 3 list
says 'add the line `peers: peers`'
echo 'peers: peers' >>policy.yml
peers 3 digest
says 'peers does not exist; remedy: hedgerow-agent peers add'
peers 0 add hospital-2 --key two.pub
peers 0 add hospital-1 --key "$(signing one.pub)"
peers 7 add hospital-3 --key two.pub
says 'hospital-2 signs by this key already'
peers 3 add 'Two' --key old.pub
says "an institution's name is"
peers 3 add hospital-3 --key two
says 'holds a secret key'
peers 0 list
prints "$(signing two.pub)"
prints "$(signing one.pub)"

# The digest depends on who is listed, and not on the file's layout.
peers 0 digest
cp "$work/out" before
{ echo '# as agreed'; grep -v '^#' peers | tac; } >reversed && cat reversed >peers
peers 0 digest
cmp -s "$work/out" before || fault 'the digest depends on the order of lines'
peers 0 remove hospital-2
peers 0 digest
! cmp -s "$work/out" before || fault 'the digest does not tell who is listed'
peers 3 remove hospital-2
says 'lists no hospital-2'

# Nobody else may change it, and a broken line is named.
chmod g+w peers
peers 3 list
says 'chmod go-w peers'
chmod g-w peers
echo 'hospital-9 77' >>peers
peers 3 list
says 'peers:5: a line is NAME'

# A key of an earlier version gets its signing half beside the other one, which stays.
sed -i '/^signing /d' old old.pub
cp old before
peers 3 add hospital-4 --key old.pub
says 'peers:5'
sed -i '$d' peers
peers 3 add hospital-4 --key old.pub
says 'old.pub has no signing half, which trust distributed needs'
says 'hedgerow keygen --add-signing KEY'
expect 0 "$hedgerow" keygen --add-signing old
[ "$(tail -n 1 old)" = "$(tail -n 1 before)" ] || fault 'the other half has changed'
[ "$(stat -c %a old)" = 600 ] || fault 'the secret key is readable by others'
[ -n "$(signing old)" ] && [ -n "$(signing old.pub)" ] || fault 'no signing half was written'
expect 7 "$hedgerow" keygen --add-signing old
says 'never replaced'
expect 2 "$hedgerow" keygen --out new --add-signing old
peers 0 add hospital-4 --key old.pub
finish
