"""test_face_tls.py - a page's port that others than this machine reach, by TLS and a token."""

import http.client
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import warnings

import federation as fed
from federation import expect, in_time
from test_face import run_all

TOKEN = "a-token-of-this-test-and-of-no-other-one"
NAME = "coordinator.example"


def make_certificate(folder, name=NAME, days=2):
    certificate, key = folder / "http.crt", folder / "http.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(days),
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", certificate],
                   check=True, stderr=subprocess.DEVNULL)
    key.chmod(0o600)
    token = folder / "http.token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)


SECURE = f'http: {{listen: "0.0.0.0:0", certificate: http.crt, key: http.key, token: http.token, names: "other.example {NAME}"}}\n'


def secure_port_of(federation, name):
    text = federation.wait_event(name, "http-listening")["text"]
    found = re.search(r"https://([0-9.]+):([0-9]+)/", text)
    expect(found, f"no https: {text}")
    return "127.0.0.1", int(found[2])


def context_of(folder):
    context = ssl.create_default_context(cafile=folder / "http.crt")
    return context


def ask_by_tls(place, context, path="/metrics", headers=None, host=NAME):
    """Returns code, text and the version of TLS."""
    with socket.create_connection(place, timeout=20) as plain, context.wrap_socket(plain, server_hostname=NAME) as one:
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *[f"{key}: {value}" for key, value in (headers or {}).items()], "", ""]
        one.send("\r\n".join(lines).encode())
        answer = http.client.HTTPResponse(one)
        answer.begin()
        return answer.status, answer.read().decode(), one.version()


def elsewhere_by_tls_and_a_token_alone(make, programs):
    """Both programs answer only requests with the token, nothing in the clear, and nothing older than TLS 1.2."""
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=30, rounds=2), policy=fed.policy_text(answer_slot_ms=1000),
                      agent_settings=SECURE)
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + SECURE)
    for folder in (federation.office, federation.folder / "site-1"):
        make_certificate(folder)
    run_all(federation)
    good = {"Authorization": f"Bearer {TOKEN}"}
    for name in ("coordinator", "site-1"):
        place = secure_port_of(federation, name)
        context = context_of(federation.office if name == "coordinator" else federation.folder / name)
        code, text, version = ask_by_tls(place, context, headers=good)
        expect(code == 200 and "hedgerow_build_info" in text and version in ("TLSv1.2", "TLSv1.3"), f"{name}: {code} {version} {text[:200]}")
        expect(ask_by_tls(place, context, "/healthz")[0] == 200, "a probe without the token")
        # A site answers at whole seconds.
        for path in ("/", "/metrics", "/api/status", "/watch.js", "/api/events", "/results/1/result.json", "/nothing") if name == "coordinator" else ("/api/site",):
            for headers in ({}, {"Authorization": "Bearer " + TOKEN[:-1]}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": TOKEN},
                            {"Cookie": f"token={TOKEN}"}):
                code, text, _ = ask_by_tls(place, context, path, headers)
                expect(code == 401 and "hedgerow_" not in text, f"{name} {path} {headers}: {code} {text[:100]}")
        for host in ("127.0.0.1", "localhost", "evil.example", NAME + ".evil.example", "") if name == "coordinator" else ("127.0.0.1",):
            expect(ask_by_tls(place, context, headers=good, host=host)[0] in (400, 421), f"Host {host}")
        expect(ask_by_tls(place, context, headers={**good, "Origin": "https://evil.example"})[0] == 403, "another page")
        in_the_clear_is_refused(place)
        old = context_of(federation.office if name == "coordinator" else federation.folder / name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        try:
            ask_by_tls(place, old, headers=good)
        except (ssl.SSLError, ConnectionError):
            pass
        else:
            raise fed.Failure("TLS 1.1 is spoken")
        slow_ones_are_cut(place, context)


def replaced_files_are_read_again(make, programs):
    """Both programs use another certificate, key and token without a restart. If these do not fit each other, the log says so
    once, and the page keeps the old ones."""
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=30, rounds=2), policy=fed.policy_text(answer_slot_ms=1000),
                      agent_settings=SECURE)
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + SECURE)
    folders = {"coordinator": federation.office, "site-1": federation.folder / "site-1"}
    for folder in folders.values():
        make_certificate(folder)
    run_all(federation)
    for name, folder in folders.items():
        place = secure_port_of(federation, name)
        before, kept = context_of(folder), folder / "kept"
        kept.mkdir()
        make_certificate(kept)
        kept_token = "another" + TOKEN
        (kept / "http.token").write_text(kept_token + "\n")
        (kept / "http.crt").rename(folder / "http.crt")
        refused = federation.wait_event(name, "http-files-refused")["text"]
        expect("is not the certificate of this key" in refused, f"{name}: {refused}")
        code, _, _ = ask_by_tls(place, before, headers={"Authorization": f"Bearer {TOKEN}"})
        expect(code == 200, f"{name}: the page does not go on: {code}")
        (kept / "http.key").rename(folder / "http.key")
        (kept / "http.token").rename(folder / "http.token")
        federation.wait_event(name, "http-files-read")
        after = context_of(folder)
        expect(ask_by_tls(place, after, headers={"Authorization": f"Bearer {kept_token}"})[0] == 200, f"{name}: the new token")
        expect(ask_by_tls(place, after, headers={"Authorization": f"Bearer {TOKEN}"})[0] == 401, f"{name}: the old token")
        try:
            ask_by_tls(place, before)
        except ssl.SSLError:
            pass
        else:
            raise fed.Failure(f"{name}: the old certificate is shown")
        told = [one for one in federation.events(name) if one["event"].startswith("http-files")]
        expect(len(told) == 2, f"{name}: {told}")


def in_the_clear_is_refused(place):
    with socket.create_connection(place, timeout=20) as one:
        one.send(f"GET /metrics HTTP/1.1\r\nHost: {NAME}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        try:
            got = one.recv(4096)
        except ConnectionError:
            got = b""
        expect(b"hedgerow" not in got and b"HTTP/1" not in got, f"in the clear: {got}")


def slow_ones_are_cut(place, context):
    """No client keeps a place by stopping in the middle of the handshake or of the headers. Meanwhile an honest one is
    answered."""
    idle = [socket.create_connection(place, timeout=20) for _ in range(80)]
    for one in idle[::2]:
        one.send(b"\x16\x03\x01")
    began = time.monotonic()
    expect(ask_by_tls(place, context, headers={"Authorization": f"Bearer {TOKEN}"})[0] == 200, "an honest one")
    in_time(time.monotonic() - began < 15, f"an honest one waited {time.monotonic() - began:.1f} s")
    for one in idle:
        one.settimeout(20)
        try:
            while one.recv(4096) != b"":
                pass
        except ConnectionError:
            pass
        one.close()
    with socket.create_connection(place, timeout=20) as plain, context.wrap_socket(plain, server_hostname=NAME) as one:
        began = time.monotonic()
        try:
            for letter in f"GET /metrics HTTP/1.1\r\nHost: {NAME}\r\nX: {'y' * 400}":
                one.send(letter.encode())
                time.sleep(0.05)
        except OSError:
            pass
        in_time(time.monotonic() - began < 15, "a byte at a time is not cut")


def unfit_files_are_refused(make, programs):
    """Each refusal has a remedy, and comes before the program listens."""
    def loose_token(folder):
        (folder / "http.token").chmod(0o644)

    def loose_key(folder):
        (folder / "http.key").chmod(0o640)

    def short_token(folder):
        (folder / "http.token").write_text("short\n")

    def other_key(folder):
        shutil.copy(folder / "http.crt", folder / "kept")
        make_certificate(folder)
        shutil.copy(folder / "kept", folder / "http.crt")

    def no_certificate(folder):
        (folder / "http.crt").write_text("nothing\n")

    def gone(folder):
        (folder / "http.token").unlink()

    for spoil, word in ((loose_token, "http.token"), (loose_key, "http.key"), (short_token, "openssl rand"), (other_key, "is not the certificate of this key"),
                        (no_certificate, "is no certificate in PEM"), (gone, "http.token")):
        federation = make(programs, agents=1, agent_settings=SECURE)
        settings = federation.office / "coordinator.yml"
        settings.write_text(settings.read_text() + SECURE)
        for folder in (federation.office, federation.folder / "site-1"):
            make_certificate(folder)
            spoil(folder)
        for process in (federation.start_coordinator(), federation.start_agent("site-1")):
            code = process.wait()
            said = federation.said(process.name)
            expect(code not in (0, None) and word in said and TOKEN not in said, f"{spoil.__name__}: {process.name} ended with {code}: {said}")
            expect("http-listening" not in said, "it listens all the same")


def main():
    options = fed.options()
    cases = [(case.__name__, case, {"programs": options.programs})
             for case in (elsewhere_by_tls_and_a_token_alone, replaced_files_are_read_again, unfit_files_are_refused) if options.only in case.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
