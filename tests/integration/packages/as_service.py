"""as_service.py ROOT UNIT [COMMAND...] - runs a unit's program, or COMMAND, in a root folder as systemd would,
where no systemd runs: account, umask, limits, capabilities, read-only file system with the state folder, private
/tmp, no new privileges, and the unit's system calls, address families and writable code by seccomp.

It is stricter than systemd in one thing: a system call that the unit forbids kills the program (SIGSYS) and does
not fail, so that a test sees it. A socket of another family fails, as there: libc tries one and goes on. What is left out: PrivateUsers, PrivateDevices and the protections of /proc and /sys.
"""

import ctypes
import errno
import os
import platform
import pwd
import re
import resource
import signal
import struct
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
NEWNS, MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 1, 32, 4096, 16384, 1 << 18
NOSUID_NODEV = 2 | 4
CAPBSET_DROP, SET_SECCOMP, SET_NO_NEW_PRIVS = 24, 22, 38
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x50000
LOAD, EQUAL, ANY, RETURN = 0x20, 0x15, 0x45, 0x06  # of BPF: a word; jumps; an answer


def call(answer, what):
    if answer != 0:
        sys.exit(f"as_service: {what}: {os.strerror(ctypes.get_errno())}")


def mount(source, target, kind, flags, data=None):
    text = [None if word is None else word.encode() for word in (source, target, kind, data)]
    call(libc.mount(text[0], text[1], text[2], ctypes.c_ulong(flags), text[3]), f"mount {target}")


class Unit:
    """The keys of a unit; one that is repeated (SystemCallFilter) has several values."""

    def __init__(self, path):
        self.every = {}
        for line in open(path):
            if re.match(r"[A-Z]\w*=", line):
                key, value = line.strip().split("=", 1)
                self.every.setdefault(key, []).append(value)

    def one(self, key):
        return self.every[key][-1]


def members(group):
    """The system calls of a group like @system-service, and of the groups in it."""
    if not group.startswith("@"):
        return {group}
    text = subprocess.run(["systemd-analyze", "syscall-filter", group], check=True, capture_output=True, text=True)
    found = set()
    for word in re.findall(r"^    ([@a-z0-9_-]+)$", text.stdout, re.M):
        found |= members(word)
    return found


def program_of(unit):
    """The filter as a BPF program, for x86-64."""
    number = {}
    for line in open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"):
        if match := re.match(r"#define __NR_(\w+) (\d+)", line):
            number[match[1]] = int(match[2])
    allowed = set()
    for value in unit.every["SystemCallFilter"]:
        for word in value.lstrip("~").split():
            allowed = allowed - members(word) if value.startswith("~") else allowed | members(word)
    numbers = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
    families = [numbers[word] for word in unit.one("RestrictAddressFamilies").split()]
    step = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, 0xC000003E), (RETURN, 0, 0, KILL)]
    # socket() by its family; mmap() neither writable and executable at once, mprotect() never executable.
    step += [(LOAD, 0, 0, 0), (EQUAL, 0, len(families) + 2, number["socket"]), (LOAD, 0, 0, 16)]
    step += [(EQUAL, len(families) - i, 0, family) for i, family in enumerate(families)]
    step += [(RETURN, 0, 0, FAIL + errno.EAFNOSUPPORT), (LOAD, 0, 0, 0)]
    if unit.one("MemoryDenyWriteExecute") == "yes":
        step += [(LOAD, 0, 0, 0), (EQUAL, 0, 3, number["mprotect"]), (LOAD, 0, 0, 32), (ANY, 0, 1, 4), (RETURN, 0, 0, KILL)]
        step += [(LOAD, 0, 0, 0), (EQUAL, 0, 4, number["mmap"]), (LOAD, 0, 0, 32), (ANY, 0, 2, 4), (ANY, 0, 1, 2), (RETURN, 0, 0, KILL)]
    step += [(LOAD, 0, 0, 0)]
    for name in sorted(allowed & set(number)):
        step += [(EQUAL, 0, 1, number[name]), (RETURN, 0, 0, ALLOW)]
    step += [(RETURN, 0, 0, KILL)]
    return step


def main():
    root, path, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    unit = Unit(path)
    command = command or unit.one("ExecStart").split()
    program = program_of(unit) if platform.machine() == "x86_64" else []
    state = f"{root}/var/lib/{unit.one('StateDirectory')}"

    call(libc.unshare(NEWNS), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount(root, root, None, MS_BIND)
    mount(root, root, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
    mount(state, state, None, MS_BIND)
    mount(state, state, None, MS_REMOUNT | MS_BIND | NOSUID_NODEV)
    mount("tmpfs", f"{root}/tmp", "tmpfs", NOSUID_NODEV)
    mount("proc", f"{root}/proc", "proc", NOSUID_NODEV)
    mount("/dev", f"{root}/dev", None, MS_BIND | MS_REC)
    os.chroot(root)
    os.chdir("/")

    account = pwd.getpwnam(unit.one("User"))
    descriptors = int(unit.one("LimitNOFILE"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(int(unit.one("UMask"), 8))
    if unit.one("CapabilityBoundingSet") != "" or unit.one("NoNewPrivileges") != "yes":
        sys.exit("as_service: the unit leaves privileges")
    for capability in range(64):
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    os.initgroups(account.pw_name, account.pw_gid)
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    call(libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    if program:
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
        filter_of = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(code)))
        call(libc.prctl(SET_SECCOMP, 2, ctypes.byref(filter_of), 0, 0), "seccomp")
    os.execve(command[0], command, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"})


main()
