"""test_face.py - the page, the metrics and the status of both programs: right figures, nothing that they must not tell, and no
client that could delay a round, end a program or learn when a computation ended."""

import http.client
import json
import os
import random
import re
import signal
import socket
import statistics
import sys
import threading
import time

import federation as fed
import prometheus_text
from federation import expect, in_time

FITS = 20
LOSSES = 4
SLOT_MS = 300
AGENT_PERIOD_S = 1.0

# Each family is public, or the site's own ledger. A new one is judged by a person, and then written here.
COORDINATOR_FAMILIES = {
    "agent_info", "agents", "agents_needed", "agents_ready", "build_info", "collector_agents_ready", "delta_planned", "delta_spent", "epsilon_planned", "epsilon_spent",
    "fetch_waiting_agents", "fetch_waiting_bytes", "fetches_held_total", "fetches_not_taken_total", "fetches_repeated_total",
    "job_failed", "job_info", "job_left_seconds", "job_phase", "jobs_set_aside", "jobs_waiting", "journal_bytes", "last_release_timestamp_seconds", "last_round_agents",
    "last_round_seconds", "message_bytes_total", "messages_total", "regret_average", "regret_bound", "round_seconds_total", "rounds_closed_total", "rounds_planned",
    "stage_info", "start_timestamp_seconds"}
AGENT_FAMILIES = {
    "answers_total", "build_info", "connected", "delta_left", "delta_limit", "delta_spent", "epsilon_left", "epsilon_limit",
    "epsilon_spent", "job_epsilon_spent", "job_info", "job_phase", "journal_bytes", "last_answer_timestamp_seconds",
    "message_bytes_total", "messages_total", "round_phase", "start_timestamp_seconds"}
LISTS = {"latest_rounds": {"closed", "round", "stage", "agents", "seconds"},
         "queue": {"number", "state", "rounds", "agents", "left", "waits", "job", "because"},
         "results": {"number", "job", "file"},
         "latest_answers": {"when", "id", "round", "task", "epsilon", "charge", "bytes"}}


def port_of(federation, name):
    """Where a program listens, from its log."""
    text = federation.wait_event(name, "http-listening")["text"]
    host, port = re.search(r"http://([0-9.]+):([0-9]+)/", text).groups()
    return host, int(port)


def ask(place, path, headers=None, method="GET", seconds=fed.PATIENCE_S):
    connection = http.client.HTTPConnection(*place, timeout=seconds)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def metrics(place):
    code, text, headers = ask(place, "/metrics")
    expect(code == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"), f"{code} {headers}")
    return {name.removeprefix("hedgerow_"): samples for name, (_, samples) in prometheus_text.read(text).items()}


def whole_status(place, path="/api/status"):
    code, text, _ = ask(place, path)
    expect(code == 200, f"{path} gave {code}")
    return json.loads(text)


def status(place):
    return whole_status(place)["facts"]


def with_http(make, programs, agents=3, where="127.0.0.1:0", slot_ms=SLOT_MS, **more):
    federation = make(programs, agents=agents, job=fed.job_text(minimum=agents, fits=FITS, rounds=LOSSES),
                      policy=fed.policy_text(answer_slot_ms=slot_ms), linger_s=60,
                      agent_settings=f'http: {{listen: "{where}"}}\n', **more)
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + f'http: {{listen: "{where}"}}\n')
    return federation


def run_all(federation):
    coordinator = federation.start_coordinator()
    agents = [federation.start_agent(name) for name in federation.names]
    return coordinator, agents


def closed(federation):
    return [one for one in federation.events("coordinator") if one["event"] == "round-closed"]


def stop(*processes):
    """A stop is clean and quick, whatever is connected: never an abort."""
    for process in processes:
        process.signal(signal.SIGTERM)
    for process in processes:
        code = process.wait(20)
        expect(code == 0, f"{process.name} ended with {code} after SIGTERM")


def exactly_now(federation, place):
    """Looks between two rounds: the log is the same before and after the look."""
    while True:
        before = closed(federation)
        now, facts = metrics(place), status(place)
        if len(before) == len(closed(federation)) and len(before) >= 4:
            return now, facts, before
        in_time(len(before) < FITS, "the job is over before a look fell between two rounds")


def figures_of_the_coordinator(make, programs):
    federation = with_http(make, programs)
    run_all(federation)
    place = port_of(federation, "coordinator")
    last = -1
    for _ in range(10):  # they only grow, and are whole at any moment
        now = metrics(place)
        expect(set(now) <= COORDINATOR_FAMILIES, f"not judged yet: {set(now) - COORDINATOR_FAMILIES}")
        expect(now["rounds_closed_total"][()] >= last, "rounds were lost")
        last = now["rounds_closed_total"][()]
    now, facts, log = exactly_now(federation, place)
    count = len(log)
    alone = COORDINATOR_FAMILIES - {"jobs_set_aside", "jobs_waiting", "collector_agents_ready"}  # there is no queue, and no collector
    if count <= FITS:
        alone = alone - {"regret_average", "regret_bound"}  # no round of losses yet
    expect(set(now) == alone, f"{set(now) ^ alone}")
    whole = whole_status(place)
    expect(whole["jobs"] == [] and whole["shown"] is None, "a job with a number where there is no queue")
    expect(ask(place, "/api/jobs/0")[0] == ask(place, "/api/jobs/1")[0] == 404, "a job by its number")
    expect(not any(name == "job_number" for samples in now.values() for labels in samples for name, _ in labels), "job_number")
    expect(now["agents_ready"][()] == 3, f"ready: {now['agents_ready']}")
    expect(set(facts) == COORDINATOR_FAMILIES | {"latest_rounds", "queue", "results"}, f"{set(facts) ^ COORDINATOR_FAMILIES}")
    expect(facts["queue"] == [] and facts["jobs_waiting"] is None, "a queue where there is none")
    expect(now["rounds_closed_total"][()] == facts["rounds_closed_total"] == count, f"{count} rounds: {now}")
    expect(now["rounds_planned"][()] == FITS + LOSSES and now["last_round_agents"][()] == 3, "rounds, agents")
    expect(now["epsilon_spent"][()] == log[-1]["epsilon"] == facts["epsilon_spent"], f"epsilon {now['epsilon_spent']}")
    expect(now["epsilon_planned"][()] == 1, "the job's epsilon")
    expect(abs(now["round_seconds_total"][()] - sum(one["seconds"] for one in log)) < 0.001 * count + 1e-6, "seconds")
    expect(now["job_phase"][(("phase", "open"),)] == 1 and sum(now["job_phase"].values()) == 1, f"phase {now['job_phase']}")
    expect(sum(now["agents"].values()) == 3 and len(now["agent_info"]) == 3, f"agents {now['agents']}")
    expect([row["round"] for row in facts["latest_rounds"]] == [str(count - i) for i in range(count)], "the list of rounds")
    expect(all(set(row) == LISTS["latest_rounds"] for row in facts["latest_rounds"]), "a column that was not judged")
    paths_and_refusals(place)


def figures_of_a_site(make, programs):
    federation = with_http(make, programs)
    _, agents = run_all(federation)
    place = port_of(federation, "site-1")
    federation.wait_event("site-1", "job-ended")
    now, facts, ledger = metrics(place), status(place), federation.ledger("site-1")
    expect(set(now) == AGENT_FAMILIES, f"{set(now) ^ AGENT_FAMILIES}")
    expect(set(facts) == AGENT_FAMILIES | {"latest_answers", "job_epsilon_left", "data_set_info"}, f"{set(facts) ^ AGENT_FAMILIES}")
    expect(now["answers_total"][()] == len(ledger["charges"]) == FITS + LOSSES, f"answers {now['answers_total']}")
    total = (("allowance", "total"),)
    for name in ("limit", "spent", "left"):
        expect(abs(now[f"epsilon_{name}"][total] - ledger[name]["epsilon"]) < 1e-9, f"epsilon {name}")
    expect(list(now["job_epsilon_spent"].values()) == [ledger["jobs"][0]["spent"]["epsilon"]], "the job's epsilon")
    expect(all(set(row) == LISTS["latest_answers"] for row in facts["latest_answers"]), "a column that was not judged")
    left = [(int(row["round"]) - 1, row["task"]) for row in reversed(facts["latest_answers"])]
    expect(left == [(row["round"], row["task"]) for row in ledger["charges"]], f"what left: {left}")
    used = [float(row["epsilon"]) for row in reversed(facts["latest_answers"])]
    expect(used == [row["epsilon"] for row in ledger["charges"]] and abs(sum(used) - ledger["spent"]["epsilon"]) < 1e-9, f"used up: {used}")
    expect(used[-1] == 0, "no round of a pass that was charged already")
    paths_and_refusals(place)
    stop(*agents)


def paths_and_refusals(place):
    for path, word in (("/", "<!doctype html>"), ("/watch.css", "color-scheme"), ("/watch.js", '"use strict"'), ("/healthz", "ok\n")):
        code, text, headers = ask(place, path)
        expect(code == 200 and word in text, f"{path}: {code} {text[:80]}")
        expect("default-src 'none'" in headers["Content-Security-Policy"], f"{path}: {headers}")
    expect(ask(place, "/metrics", {"Host": "rebound.example"})[0] == 421, "a name from elsewhere")
    expect(ask(place, "/metrics", {"Origin": "http://127.0.0.1"})[0] == 403, "another page")
    expect(ask(place, "/metrics", method="POST")[0] == 405, "POST")
    expect(ask(place, "/metrics?x=1")[0] == 404, "a query")


def restarts_keep_the_figures(make, programs):
    """They come from the journal: a program that was killed shows them again."""
    federation = with_http(make, programs)
    coordinator, agents = run_all(federation)
    fed.wait_until(lambda: len(closed(federation)) >= 4, "four rounds")
    for process in (coordinator, agents[0]):
        process.kill()
    before = len(closed(federation))
    for name in ("coordinator", "site-1"):
        (federation.folder / f"{name}.log").unlink()
    federation.start_coordinator()
    federation.start_agent("site-1")
    place, site = port_of(federation, "coordinator"), port_of(federation, "site-1")
    fed.wait_until(lambda: "rounds_closed_total" in metrics(place), "the journal is read")
    expect(metrics(place)["rounds_closed_total"][()] >= before, "rounds were forgotten")
    expect(status(place)["latest_rounds"][-1]["round"] == "1", "the list of rounds was forgotten")
    expect(metrics(site)["answers_total"][()] >= before, "answers were forgotten")


class Attack:
    """Clients of one port that never ask properly. Each kind has threads of its own, until it is ended."""

    def __init__(self, place):
        self.place = place
        self.over = threading.Event()
        self.count = 0
        jobs = [self.hold] * 4 + [self.drip] * 4 + [self.flood] + [self.garbage] + [self.reset] + [self.half] + [self.ask_all_the_time] * 2
        self.threads = [threading.Thread(target=job, daemon=True) for job in jobs]
        for thread in self.threads:
            thread.start()

    def dial(self):
        one = socket.create_connection(self.place, timeout=5)
        self.count += 1
        return one

    def until_over(self, act):
        while not self.over.is_set():
            try:
                act()
            except OSError:
                self.over.wait(0.01)

    def hold(self):
        """Fifty connections that say nothing, four threads of them."""
        held = []

        def act():
            while len(held) < 50 and not self.over.is_set():
                held.append(self.dial())
            for one in list(held):
                one.settimeout(0.01)
                try:
                    if one.recv(1) == b"":
                        held.remove(one)
                except TimeoutError:
                    pass
        self.until_over(act)

    def drip(self):
        def act():
            with self.dial() as one:
                for letter in b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + 1000 * b"y":
                    one.send(bytes([letter]))
                    if self.over.wait(0.02):
                        return
        self.until_over(act)

    def flood(self):
        def act():
            with self.dial() as one:
                one.send(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                while not self.over.is_set():
                    one.send(b"X: " + 4000 * b"y" + b"\r\n")
        self.until_over(act)

    def garbage(self):
        dice = random.Random(7)

        def act():
            with self.dial() as one:
                for _ in range(50):
                    one.send(dice.randbytes(2000))
        self.until_over(act)

    def reset(self):
        def act():
            with self.dial() as one:
                one.send(b"GET /met")
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.over.wait(0.001)
        self.until_over(act)

    def half(self):
        def act():
            with self.dial() as one:
                one.send(b"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                one.shutdown(socket.SHUT_WR)
                one.recv(1)
        self.until_over(act)

    def ask_all_the_time(self):
        def act():
            with self.dial() as one:
                one.send(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.until_over(act)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(20)


def in_time_of(median, seconds):
    """A round of fits takes a slot, and little more."""
    in_time(median < SLOT_MS / 1000 + 0.15, f"rounds took {seconds}")


def hostile_clients_delay_nothing(make, programs):
    """Coordinator and site are attacked at once while a job runs. Its rounds take a slot each, and no more."""
    federation = with_http(make, programs, agents=2)
    coordinator, agents = run_all(federation)
    attacks = [Attack(port_of(federation, "coordinator")), Attack(port_of(federation, "site-1"))]
    try:
        expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
        seconds = [one["seconds"] for one in closed(federation)[1:FITS]]
        in_time_of(statistics.median(seconds), seconds)
        in_time(all(attack.count > 300 for attack in attacks), f"so few attacked: {[attack.count for attack in attacks]}")
        stop(*agents)  # in the middle of it
    finally:
        for attack in attacks:
            attack.end()


def an_honest_scraper_gets_through(make, programs):
    """Two hundred connections that are held open delay Prometheus (10 s of patience) and do not keep it out."""
    federation = with_http(make, programs, agents=2)
    coordinator, agents = run_all(federation)
    for name in ("coordinator", "site-1"):
        place = port_of(federation, name)
        held = [socket.create_connection(place, timeout=5) for _ in range(200)]
        began = time.monotonic()
        ask(place, "/metrics")
        in_time(time.monotonic() - began < 10, f"{name} answered after {time.monotonic() - began:.1f} s")
        for one in held:
            one.close()
    stop(coordinator, *agents)


def a_site_answers_at_whole_seconds(make, programs):
    """An answer leaves at a time of the clock's grid. It depends neither on the question nor on the
    end of the computation."""
    federation = with_http(make, programs, agents=1, slot_ms=700)
    coordinator, agents = run_all(federation)
    place = port_of(federation, "site-1")
    dice = random.Random(11)
    late = []
    for _ in range(8):
        time.sleep(dice.uniform(0.05, 0.9))
        if time.monotonic() % AGENT_PERIOD_S < 0.1:
            time.sleep(0.1)  # a site that is a little late would answer a question of now with those of before
        began = time.monotonic()
        with socket.create_connection(place, timeout=20) as one:
            one.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            expect(b" 200 " in one.recv(4096), "no answer")
        ended = time.monotonic()
        late.append(ended % AGENT_PERIOD_S)
        # A site that is a tenth of a second late may have heard a question meanwhile.
        in_time(late[-1] < 0.1, f"behind the whole second: {late}")
        expect(int(ended / AGENT_PERIOD_S) > int(began / AGENT_PERIOD_S), f"asked at {began}, answered at {ended}")
    in_time(statistics.median(late) < 0.1, f"behind the whole second: {late}")
    stop(coordinator, *agents)


def listening_sockets(process):
    """How many TCP ports a process listens on."""
    inodes = set()
    for entry in os.listdir(f"/proc/{process.popen.pid}/fd"):
        try:
            found = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process.popen.pid}/fd/{entry}"))
        except OSError:
            continue
        if found:
            inodes.add(found[1])
    count = 0
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{process.popen.pid}/net/{table}", encoding="ascii") as lines:
            count += sum(fields[3] == "0A" and fields[9] in inodes for fields in map(str.split, lines) if fields[0] != "sl")
    return count


def nothing_listens_unless_said(make, programs):
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=FITS, rounds=LOSSES),
                      policy=fed.policy_text(answer_slot_ms=SLOT_MS))
    coordinator, agents = run_all(federation)
    federation.wait_event("coordinator", "round-closed")
    expect(listening_sockets(agents[0]) == 0 and listening_sockets(coordinator) == 1, "a port more than it needs")
    stop(coordinator, *agents)
    said = with_http(make, programs, agents=1)
    coordinator, agents = run_all(said)
    said.wait_event("coordinator", "round-closed")
    expect(listening_sockets(agents[0]) == 1 and listening_sockets(coordinator) == 2, "the check counts no port")
    stop(coordinator, *agents)


def elsewhere_is_refused(make, programs):
    for where in ("0.0.0.0:7390", "192.0.2.1:7390", "localhost:7390", "[::]:7390"):
        federation = with_http(make, programs, agents=1, where=where)
        for process in (federation.start_coordinator(), federation.start_agent("site-1")):
            code = process.wait()
            said = federation.said(process.name)
            expect(code == 3 and "http.listen: is not an address of this machine alone" in said and "ssh -L" in said,
                   f"{where}: {process.name} ended with {code}: {said}")
    taken = socket.create_server(("127.0.0.1", 0))
    federation = with_http(make, programs, agents=1, where=f"127.0.0.1:{taken.getsockname()[1]}")
    for process in (federation.start_coordinator(), federation.start_agent("site-1")):
        expect(process.wait() != 0 and "another program listens there; remedy" in federation.said(process.name),
               federation.said(process.name))


def main():
    options = fed.options()
    prometheus_text.self_test()
    cases = [(function.__name__, function, {"programs": options.programs})
             for function in (figures_of_the_coordinator, figures_of_a_site, restarts_keep_the_figures, hostile_clients_delay_nothing, an_honest_scraper_gets_through,
                              a_site_answers_at_whole_seconds, nothing_listens_unless_said, elsewhere_is_refused)
             if options.only in function.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
