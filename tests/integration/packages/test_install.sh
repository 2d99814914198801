#!/bin/bash
# test_install.sh BUILD - the walk of docs/WALK.md on three bare Debians, a coordinator and two sites: every command is
# read from the page. The second site does what the page says for the first one. The services run as their units say
# (as_service.py). Then ledger and journal: an upgrade and a removal keep both; a purge says what is lost and deletes
# them.
#
# Two kinds of command cannot run as they are: scripts/packages has made the packages already (scripts/test calls it
# with another preset), and scp has no second machine, so it copies from root to root.
#
# The bare root (scripts/bare-root, with the libraries that the packages need) is kept in BUILD, and made anew when
# the packages need others. Only root can make one.
# shellcheck disable=SC2016 # what another shell or perl expands
. "$(dirname "$0")/common.sh"
. "$here/walk.sh"
[ "$(id -u)" -eq 0 ] || { echo 'skipped: only root can make a bare root'; exit 77; }
export DEBIAN_FRONTEND=noninteractive
host=127.$((100 + $$ / 65536 % 50)).$(($$ / 256 % 256)).$(($$ % 256))
port=7310
sites='hospital-1 hospital-2'
declare -A service=()

finish_all() {
    [ ${#service[@]} -eq 0 ] || kill "${service[@]}" 2>/dev/null
    wait
    [ "${KEEP:-}" = yes ] || rm -rf "$work"
}
trap finish_all EXIT
die() {
    fault "$*"
    exit 1
}
in_root() { # MACHINE COMMAND...
    local machine=$1
    shift
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$work/$machine" "$@"
}
command_of() { # MACHINE COMMAND...: one that has to end well
    local machine=$1
    in_root "$@" >"$work/$machine.said" 2>&1 || die "$* ended with $?: $(tail -n 20 "$work/$machine.said")"
}
start() { # MACHINE PROGRAM: as its unit says
    python3 "$here/as_service.py" "$work/$1" "$work/$1/lib/systemd/system/$2.service" 2>>"$work/$1.log" &
    service[$1]=$!
}
stop() { # MACHINE: what a supervisor does
    kill "${service[$1]}" 2>/dev/null
    ended "$1" 0
}
ended() { # MACHINE CODE
    wait "${service[$1]}"
    local code=$?
    unset "service[$1]"
    [ $code -eq "$2" ] || die "the service of $1 ended with $code: $(tail -n 5 "$work/$1.log")"
}
await() { # MACHINE EVENT: 60 s
    for _ in $(seq 240); do
        ! grep -q "\"event\":\"$2\"" "$work/$1.log" || return 0
        kill -0 "${service[$1]}" 2>/dev/null || die "the service of $1 has ended: $(tail -n 5 "$work/$1.log")"
        sleep 0.25
    done
    die "$1 never logs $2: $(tail -n 5 "$work/$1.log")"
}
as_agent() { # SITE WORDS...
    local site=$1
    shift
    in_root "$site" runuser -u hedgerow-agent -- hedgerow-agent "$@" --config /etc/hedgerow-agent/agent.yml
}
mode_is() { # MACHINE PATH MODE
    local found
    found=$(in_root "$1" stat -c '%U:%G %a' "$2")
    [ "$found" = "$3" ] || fault "$1: $2 is $found, not $3"
}

# The bare root, with what the packages need: apt takes nothing else from the network.
needs=$(for package in "$build"/packages/*.deb; do dpkg-deb -f "$package" Depends; done |
    tr ',' '\n' | sed 's/(.*//; s/ //g; /^hedgerow/d' | sort -u | paste -sd,)
bare=$build/packages/bare-$(sha256sum <<<"$needs" | cut -c1-12).tar
if [ ! -s "$bare" ]; then
    rm -f "$build"/packages/bare-*
    "$root/scripts/bare-root" "$bare.part" --format=tar --include="$needs" --dpkgopt=force-unsafe-io ||
        die 'no bare root could be made'
    mv "$bare.part" "$bare"
    say "made a bare root with $needs"
fi
for machine in coordinator $sites; do
    mkdir "$work/$machine" && tar -xf "$bare" -C "$work/$machine" || exit 1
    ! in_root "$machine" sh -c 'command -v hedgerow' || die 'the bare root is not bare'
done
say 'three machines'

is_installed() {
    local place machine name
    for place in 'coordinator hedgerow-coordinator' 'hospital-1 hedgerow-agent'; do
        read -r machine name <<<"$place"
        mode_is "$machine" "/etc/$name" "root:$name 750"
        mode_is "$machine" "/var/lib/$name" "$name:$name 700"
        [ "$(in_root "$machine" getent passwd "$name" | cut -d: -f6,7)" = "/var/lib/$name:/usr/sbin/nologin" ] ||
            fault "the account $name"
        [ ! -e "$work/$machine/etc/systemd/system/multi-user.target.wants/$name.service" ] ||
            fault "$name is enabled before it has settings"
    done
}
# The three machines share a network, so the coordinator gets an address of this test's own, and each machine a port
# for HTTP. A service starts with what setup wrote, as no systemd runs here.
begin_service() { # MACHINE
    case $1 in
    coordinator)
        mode_is coordinator /etc/hedgerow-coordinator/key 'hedgerow-coordinator:hedgerow-coordinator 600'
        mode_is coordinator /root/hospital-1.token 'root:root 600'
        mode_is coordinator /etc/hedgerow-coordinator/coordinator.yml 'root:root 644'
        sed -i "s/0\.0\.0\.0:$port/$host:$port/" "$work/coordinator/etc/hedgerow-coordinator/coordinator.yml"
        echo "http: {listen: \"$host:7390\"}" >>"$work/coordinator/etc/hedgerow-coordinator/coordinator.yml"
        start coordinator hedgerow-coordinator
        ;;
    *)
        grep -q PASSED "$work/$1.said" || fault "$1: nothing was checked"
        mode_is "$1" /etc/hedgerow-agent/key 'hedgerow-agent:hedgerow-agent 600'
        echo "http: {listen: \"$host:739${1#hospital-}\"}" >>"$work/$1/etc/hedgerow-agent/agent.yml"
        start "$1" hedgerow-agent
        ;;
    esac
}
# The port for HTTP works in a service, too.
show_figures() {
    local look machine http
    for look in 'coordinator 7390' 'hospital-1 7391' 'hospital-2 7392'; do
        read -r machine http <<<"$look"
        await "$machine" http-listening
        python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())' \
            "http://$host:$http/metrics" >"$work/said" 2>&1
        grep -q '^hedgerow_' "$work/said" ||
            fault "$machine shows no figures: $(tail -n 2 "$work/said")"
    done
}
# A command of the page, in root's folder.
perform() { # MACHINE COMMAND
    local command=${2//hedgerow.example.org/$host} to files
    case $command in
    scripts/packages)
        mkdir -p "$work/coordinator/root/build/release/packages"
        cp "$build"/packages/hedgerow{,-agent,-coordinator}_*.deb "$work/coordinator/root/build/release/packages/"
        ;;
    scp\ *)
        to=${command##* }
        files=${command#scp }
        # shellcheck disable=SC2086
        (cd "$work/$1/root" && cp ${files% *} "$work/${to%:}/root/") || die "$command"
        ;;
    *'hedgerow-agent approve '*)
        await "$1" job-waiting
        echo y | timeout 120 script -qec "env -i PATH=$PATH LC_ALL=C chroot $work/$1 $command" /dev/null \
            >"$work/$1.said" 2>&1 || die "approve: $(tail -n 3 "$work/$1.said")"
        grep -q 'approved for 1 run' "$work/$1.said" || fault "$1: nobody was asked for a yes"
        ;;
    *) command_of "$1" timeout 600 sh -c "cd /root && $command" ;;
    esac
    [[ $command != hedgerow-*-setup* ]] || begin_service "$1"
}
read_walk "$root/docs/WALK.md"
for i in "${!walk_command[@]}"; do
    machine=${walk_machine[i]}
    command=${walk_command[i]}
    [[ $command != 'hedgerow-agent-setup '* ]] || is_installed
    [[ $command != *' watch 1 '* ]] || show_figures
    # With a second site, the job asks both, and each does the same.
    case $command in
    'cat >job.yml'*) command=${command/minimum: 1/minimum: 2} ;;
    hedgerow-coordinator-setup\ *) command="$command hospital-2" ;;
    esac
    perform "$machine" "$command"
    [[ $machine != hospital-1 && $command != scp\ * ]] || perform "${machine/hospital-1/hospital-2}" "${command//hospital-1/hospital-2}"
done
result=/var/lib/hedgerow-coordinator/jobs/1/out
kill -0 "${service[coordinator]}" || fault 'the service has ended with the job'
stop coordinator
for file in "$result/model.json" /root/report.html; do [ -s "$work/coordinator$file" ] || fault "no $file"; done
for site in $sites; do
    stop "$site"
    as_agent "$site" ledger --json >"$work/$site.ledger" || fault 'no ledger'
    mode_is "$site" /var/lib/hedgerow-agent/ledger/journal.db 'hedgerow-agent:hedgerow-agent 600'
done
python3 - "$work" <<'PY' || fault 'logs or ledgers'
import json, pathlib, sys
work = pathlib.Path(sys.argv[1])
for log in work.glob("*.log"):
    for line in log.read_text().splitlines():
        assert {"time", "level", "event", "text"} <= json.loads(line).keys(), (log, line)
for ledger in work.glob("*.ledger"):
    held = json.loads(ledger.read_text())
    assert len(held["charges"]) == 1 and abs(held["spent"]["epsilon"] - 1) < 1e-9, held
PY
say 'a result'

# Here a forbidden system call kills the program, so the federation above has used none.
forbidden() { # WHAT COMMAND...
    local what=$1
    shift
    ! (python3 "$here/as_service.py" "$work/hospital-1" "$work/hospital-1/lib/systemd/system/hedgerow-agent.service" "$@"
        exit $?) >/dev/null 2>&1 || fault "a service may $what"
}
forbidden 'write settings' /usr/bin/touch /etc/hedgerow-agent/policy.yml
forbidden 'open a local socket' /usr/bin/perl -e 'socket(my $s, 1, 1, 0) or exit 1'
forbidden 'change its root' /usr/bin/perl -e 'chroot("/tmp"); exit 0'
forbidden 'read another account' /bin/cat /etc/shadow
python3 "$here/as_service.py" "$work/hospital-1" "$work/hospital-1/lib/systemd/system/hedgerow-agent.service" \
    /usr/bin/perl -e 'socket(my $s, 2, 1, 0) or exit 1; open(my $f, ">", "/var/lib/hedgerow-agent/probe") or exit 2;' ||
    fault 'a service may not do what it needs'
rm -f "$work/hospital-1/var/lib/hedgerow-agent/probe"

# An upgrade: the same programs under a later version.
later() { # MACHINE NAME
    dpkg-deb -R "$build/packages/$2"_*.deb "$work/later" || exit 1
    sed -i 's/^Version: .*/Version: 99/; s/hedgerow (= [^)]*)/hedgerow (= 99)/' "$work/later/DEBIAN/control"
    dpkg-deb -b -Znone --root-owner-group "$work/later" "$work/$1/tmp/later-$2.deb" >/dev/null
    rm -r "$work/later"
}
kept() { # SITE WHEN
    as_agent "$1" ledger --json | cmp - "$work/$1.ledger" || fault "$1: another ledger after $2"
    [ -s "$work/$1/etc/hedgerow-agent/policy.yml" ] || fault "$1: no policy after $2"
}
for name in hedgerow hedgerow-coordinator; do later coordinator $name; done
for name in hedgerow hedgerow-agent; do later hospital-1 $name; done
find "$work/coordinator/var/lib/hedgerow-coordinator" -type f -exec sha256sum {} + | sort >"$work/before"
command_of coordinator sh -c 'apt-get install -y /tmp/later-hedgerow.deb /tmp/later-hedgerow-coordinator.deb'
command_of hospital-1 sh -c 'apt-get install -y /tmp/later-hedgerow.deb /tmp/later-hedgerow-agent.deb'
[ "$(in_root hospital-1 dpkg-query -Wf '${Version}' hedgerow-agent)" = 99 ] || fault 'nothing was upgraded'
find "$work/coordinator/var/lib/hedgerow-coordinator" -type f -exec sha256sum {} + | sort | cmp - "$work/before" ||
    fault 'an upgrade changes what the coordinator keeps'
grep -q "$host" "$work/coordinator/etc/hedgerow-coordinator/coordinator.yml" || fault 'an upgrade replaces edited settings'
kept hospital-1 'an upgrade'
mode_is hospital-1 /var/lib/hedgerow-agent 'hedgerow-agent:hedgerow-agent 700'
say 'upgraded'

# Removal keeps, and the package that comes back finds its ledger. A purge warns before it deletes.
in_root hospital-1 apt-get remove -y hedgerow-agent >"$work/said" 2>&1 || fault 'apt-get remove'
grep -q '/var/lib/hedgerow-agent stays' "$work/said" || fault 'removal does not say what stays'
command_of hospital-1 apt-get install -y /tmp/later-hedgerow-agent.deb
kept hospital-1 'removal'
enabled=$work/hospital-1/etc/systemd/system/multi-user.target.wants
mkdir -p "$enabled" && ln -s /lib/systemd/system/hedgerow-agent.service "$enabled/" # as setup does where systemd runs
in_root hospital-1 apt-get purge -y hedgerow-agent >"$work/said" 2>&1 || fault 'apt-get purge'
grep -q 'WARNING: deleting /var/lib/hedgerow-agent, which holds the ledger' "$work/said" || fault 'a purge does not warn'
in_root hospital-2 apt-get remove -y hedgerow-agent >/dev/null 2>&1 || fault 'apt-get remove'
in_root hospital-2 dpkg --purge hedgerow-agent >"$work/said" 2>&1 || fault 'dpkg --purge'
grep -q 'WARNING: from now on nobody knows what was spent' "$work/said" || fault 'a purge after removal does not warn'
in_root coordinator apt-get purge -y hedgerow-coordinator >"$work/said" 2>&1 || fault 'apt-get purge'
grep -q 'WARNING: deleting /var/lib/hedgerow-coordinator' "$work/said" || fault "the coordinator's purge does not warn"
[ ! -L "$enabled/hedgerow-agent.service" ] || fault 'a purged service stays enabled'
for left in hospital-{1,2}/{etc,var/lib}/hedgerow-agent coordinator/{etc,var/lib}/hedgerow-coordinator; do
    [ ! -e "$work/$left" ] || fault "a purge leaves $left"
done
say 'removed and purged'
finish
