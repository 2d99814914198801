#!/bin/bash
# test_lintian.sh BUILD - the packages follow Debian's policy: lintian has no error and no warning. And packing is
# reproducible: with SOURCE_DATE_EPOCH, what was made twice is equal byte for byte.
. "$(dirname "$0")/common.sh"

clean() { lintian --allow-root --fail-on=error,warning "$@" >"$work/said" 2>&1; }
clean "$build"/packages/*.deb || fault "lintian: $(cat "$work/said")"

# It could fail: a page left out, a folder that others may write.
mkdir "$work/planted"
dpkg-deb -R "$build"/packages/hedgerow-agent_*.deb "$work/planted/agent"
rm -r "$work/planted/agent/usr/share/man"
chmod 777 "$work/planted/agent/usr/share/doc"
dpkg-deb -b --root-owner-group "$work/planted/agent" "$work/planted" >/dev/null
! clean "$work"/planted/*.deb || fault 'lintian passes a package without its manual page'
for tag in no-manual-page non-standard-dir-perm; do
    grep -q "$tag" "$work/said" || fault "lintian does not say $tag"
done

make_again() { rm -rf "$build/packaging/texts" && cmake "$build" && cmake --build "$build" --target packaged; }
for time in first second; do
    { SOURCE_DATE_EPOCH=1600000000 make_again && SOURCE_DATE_EPOCH=1600000000 cpack --config "$build/CPackConfig.cmake" \
        -G DEB -B "$work/$time"; } >"$work/log" 2>&1 || fault "cpack: $(tail -n 3 "$work/log")"
    sleep 1.1
done
make_again >"$work/log" 2>&1 || fault "cmake: $(tail -n 3 "$work/log")" # with today's date
for package in "$work"/first/*.deb; do
    cmp "$package" "$work/second/${package##*/}" || fault "${package##*/} is not reproducible"
done
[ "$(find "$work/first" -maxdepth 1 -name '*.deb' | wc -l)" -eq 3 ] || fault 'there are not three packages'
finish
