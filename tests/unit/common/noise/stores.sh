#!/bin/bash
# stores.sh OBJECT...: checks in each object file what common/noise/table_kernel_plain.c and table_kernel_avx512.c
# promise about functions that look a row up: after their fence they store nothing before all rows are looked up. A store
# and a later load whose addresses end in the same twelve bits would show the row by the time it takes. A compiler breaks
# this where it runs out of registers, so the machine code is read. What is loaded from the stack is no row.
set -u

# Prints how many stores stand between the fence and the last load that is not of the stack.
read -r -d '' judge <<'AWK'
/^[0-9a-f]+ <.*>:$/ { inside = $2 == "<" wanted ">:"; fenced = 0; stores = 0; before = 0 }
inside && /mfence|lock or/ { fenced = 1; seen = 1; next }
inside && fenced {
    memory = match($0, /\([^)]*\)/)
    last = $0 ~ /\([^)]*\)(\{[^}]*\})*[ \t]*(#.*)?$/
    reads = $2 ~ /^(cmp|test|mul|imul|lea|nop|prefetch)/
    if ($2 ~ /^push/ || (memory && last && !reads)) {
        stores++
    } else if (memory && $2 !~ /^(lea|nop)/ && $0 !~ /\(%r[bs]p/) {
        before = stores
        loads++
    }
}
inside && $2 == "ret" { worst = before > worst ? before : worst }
END { print (seen && loads ? worst + 0 : "none") }
AWK

fault=0
count() { awk -v wanted="$1" "$judge"; }
expect() { # what, number, name: of the code on standard input
    got=$(count try_group)
    [ "$got" = "$2" ] || { echo "$1: $got, not $2" >&2; fault=1; }
}

[ "$(uname -m)" = x86_64 ] || exit 77

# Planted: the judge on code with a store, without one, and without a fence.
expect 'a store before the last row' 1 <<'CODE'
0000000000000000 <try_group>:
   1:	mfence
   2:	mov    0x8(%rdi),%rax
   3:	mov    %rax,-0x8(%rbp)
   4:	mov    0x10(%rdi),%rcx
   5:	mov    %rcx,(%rsi)
   6:	ret
CODE
expect 'stores after the last row' 0 <<'CODE'
0000000000000000 <try_group>:
   1:	mov    %rdi,-0x8(%rbp)
   2:	lock orq $0x0,(%rsp)
   3:	mov    0x8(%rdi),%rax
   4:	cmpl   $0xa,0x74(%rdi)
   5:	mov    %rax,(%rsi)
   6:	mov    -0x8(%rbp),%rdx
   7:	ret
CODE
expect 'a store under a mask, and one of a register of 64 bytes' 2 <<'CODE'
0000000000000000 <try_group>:
   1:	lock orq $0x0,(%rsp)
   2:	vmovdqa64 (%r11,%r15,1),%zmm3
   3:	vmovdqu64 %zmm3,(%rdi){%k1}
   4:	vmovdqa64 %zmm3,0x40(%rsp)
   5:	vmovdqa64 (%r11,%r14,1),%zmm4
   6:	vpcompressq %zmm4,(%rsi){%k1}
   7:	ret
CODE
expect 'no fence' none <<'CODE'
0000000000000000 <try_group>:
   1:	mov    0x8(%rdi),%rax
   2:	ret
CODE

for object in "$@"; do
    case $object in
    *table_kernel_plain*) functions='noise_table_try try_group' ;;
    *table_kernel_avx512*) functions=try_vectors ;;
    *) echo "$object: no kernel of a table" >&2; fault=1; continue ;;
    esac
    for function in $functions; do
        got=$(objdump -d --no-show-raw-insn "$object" | count "$function")
        [ "$got" = 0 ] || { echo "$object: $function: stores before the last row is read: $got" >&2; fault=1; }
    done
done
[ $# -gt 0 ] || { echo 'no object' >&2; fault=1; }
exit $fault
