#!/bin/bash
# test_libraries.sh - libraries planted in the current folder, under the names of every library that the programs
# need, are not loaded: neither by what is built nor by what `cmake --install` makes of it, as the image does.
#
#     test_libraries.sh PROGRAMS BUILD ROOT
set -euo pipefail

programs=$1
build=$2
root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
faults=0
fault() {
    printf 'FAILED: %s\n' "$*"
    faults=$((faults + 1))
}

# A library that writes a line when it is loaded.
cat >"$work/planted.c" <<'CODE'
#include <unistd.h>
__attribute__((constructor)) static void tell(void)
{
    static const char text[] = "PLANTED\n";
    ssize_t put = write(1, text, sizeof text - 1);
    (void)put;
    _exit(86);
}
CODE
cc -shared -fPIC -o "$work/planted.so" "$work/planted.c"
mkdir "$work/here"
names=(hedgerow hedgerow-agent hedgerow-coordinator hedgerow-agent-seeded hedgerow-coordinator-seeded)
for name in "${names[@]}"; do
    # (The C library and its libm come with the loader.)
    readelf -d "$programs/$name" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | { grep -vE '^(lib[cm]|ld-linux.*)\.so' || true; }
done | sort -u >"$work/needed"
[ "$(wc -l <"$work/needed")" -ge 8 ] || fault 'hardly any library is needed: the list cannot be right'
while read -r library; do
    cp "$work/planted.so" "$work/here/$library"
done <"$work/needed"
cd "$work/here"

# innocent PROGRAM: started here, it loads nothing of what lies here.
innocent() {
    local said
    said=$(env -u LD_LIBRARY_PATH "$1" --version 2>&1 | head -n 4) || fault "$1 ends with $?"
    grep -q '^hedgerow' <<<"$said" || fault "$1 says: $said"
    ! grep -q PLANTED <<<"$said" || fault "$1 loads a library from the current folder"
    "$root/tests/layers/runpath.sh" "$1" || fault "the RUNPATH of $1"
}
for name in "${names[@]}"; do
    innocent "$programs/$name"
done

# What is installed, and stripped as in the image.
cmake --install "$build" --prefix "$work/installed" --strip >"$work/log" 2>&1 || fault "cmake --install: $(tail -n 3 "$work/log")"
for name in hedgerow hedgerow-agent hedgerow-coordinator; do
    innocent "$work/installed/bin/$name"
done
[ "$(find "$work/installed" -type f | wc -l)" -eq 3 ] || fault 'cmake --install installs other files than the three programs'
grep -qE 'cmake --install .*--strip' "$root/compose/Dockerfile" || fault 'the image is not made by cmake --install'

# The planted fault: a program whose RUNPATH ends in an empty entry, as CMake pads it, is caught in both ways.
printf 'int zmq_errno(void);\nint main(void) { return zmq_errno(); }\n' >"$work/bad.c"
(cd / && cc -o "$work/bad" "$work/bad.c" -lzmq -Wl,--enable-new-dtags,-rpath,/nowhere:) # (the linker looks there, too)
said=$("$work/bad" 2>&1 || true)
[ "$said" = PLANTED ] || fault "the planted library is not loaded by a program with an empty entry: $said"
if "$root/tests/layers/runpath.sh" "$work/bad" >/dev/null; then
    fault 'an empty entry of a RUNPATH is not noticed'
fi

[ "$faults" -eq 0 ] || exit 1
echo 'test_libraries: passed'
