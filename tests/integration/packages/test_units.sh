#!/bin/bash
# test_units.sh BUILD - the units in the packages: systemd reads every line of them, and their exposure is at
# most 1.5 (of 10). `systemd-analyze verify` ends with 0 for a key that it does not know: any output is a fault.
. "$(dirname "$0")/common.sh"

verified() { # UNIT: its program is not on this machine
    sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$1" >"$work/checked.service"
    systemd-analyze verify --man=no "$work/checked.service" >"$work/said" 2>&1 && [ ! -s "$work/said" ]
}
closed() { systemd-analyze security --offline=true --threshold=15 "$1" >"$work/said" 2>&1; }

for name in hedgerow-coordinator hedgerow-agent hedgerow-agent@; do
    dpkg-deb -x "$build"/packages/"${name%@}"_*.deb "$work/$name" || exit 1
    unit=$work/$name/lib/systemd/system/$name.service
    verified "$unit" || fault "$name.service: $(cat "$work/said")"
    closed "$unit" || fault "$name.service: $(grep -v '✓' "$work/said")"
    tail -n 1 "$work/said"
    program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")
    [ -x "$work/$name/$program" ] || fault "$name.service starts $program, which is not in the package"

    # Faults that have to be seen.
    for planted in 's/^ProtectProc=/ProtectProcess=/' 's/^PrivateTmp=.*/PrivateTmp=maybe/' 's/@system-service/@system-services/'; do
        sed "$planted" "$unit" >"$work/planted.service"
        ! verified "$work/planted.service" || fault "$planted is not noticed"
    done
    sed '/^CapabilityBoundingSet=/d; /^NoNewPrivileges=/d' "$unit" >"$work/planted.service"
    ! closed "$work/planted.service" || fault 'a unit with capabilities passes'
done
finish
