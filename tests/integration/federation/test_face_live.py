"""test_face_live.py - the coordinator's page while rounds go on: events, clients that do not read them, and the files of
finished jobs."""

import http.client
import json
import re
import shutil
import signal
import socket
import statistics
import sys
import time

import federation as fed
import test_face_page
import test_queue
from federation import expect
from test_face import ask, closed, in_time_of, port_of, run_all, stop, with_http

# What the page draws of a result. A new key is judged by a person, and then written here: is it released?
DRAWN = {"hedgerow", "version", "job", "private", "simulated", "finished", "seed", "seconds", "rounds", "experts", "chosen", "accuracy",
         "auc", "error", "baseline", "privacy", "regret", "answers", "curves", "effects", "sites", "releases", "forecasts", "accuracy_error",
         "auc_error", "agents", "features"}
SECOND_FIT = """  - task: fit
    loss: logistic
    lambdas: [3, 4, 5, 6, 7]
    share: 0.3
    experts: {own: true, shifts: [0.5]}
    tolerance: 0.001
    grid_bits: 16
"""


class Listener:
    """One that reads its events as they come."""

    def __init__(self, place):
        self.socket = socket.create_connection(place, timeout=fed.PATIENCE_S)
        self.socket.send(b"GET /api/events HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        self.text = self.socket.makefile("rb")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.text.readline()
            expect(line, f"no answer but {head}")
            head += line
        expect(b" 200 " in head and b"text/event-stream" in head, f"{head}")

    def next(self):
        """The next event that is no beat; None once the program has ended it."""
        lines = []
        while True:
            line = self.text.readline().decode()
            if line == "":
                return None
            if line == "\n" and lines and lines != ["."]:
                return json.loads("\n".join(lines))
            if line == "\n":
                lines = []
            if line.startswith("data: "):
                lines.append(line[6:-1])


def events_tell_what_the_result_will(make, programs):
    """Rounds as they happen; what is drawn of them is, to the number, what result.json has in the end."""
    federation = with_http(make, programs, agents=2)
    job = fed.job_text(minimum=2, fits=4, rounds=4).replace("share: 0.5", "share: 0.3")
    (federation.office / "job.yml").write_text(job + SECOND_FIT)  # slots after the losses, so that the page shows these for long enough
    coordinator, _ = run_all(federation)
    listener = Listener(port_of(federation, "coordinator"))
    seen, last = [], None
    while True:
        event = listener.next()
        if event is None:
            break
        seen.append(event["status"]["facts"]["rounds_closed_total"] or 0)
        last = event["drawn"] or last
        if last is not None and set(last["result"]) - DRAWN:
            raise fed.Failure(f"not judged yet: {set(last['result']) - DRAWN}")
    expect(seen == sorted(seen) and len(set(seen)) >= 5, f"rounds seen: {seen}")
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    result = federation.result()
    rounds = {one["round"]: one for one in result["rounds"]}
    drawn = last["result"]["rounds"]
    expect(len([one for one in drawn if one["losses"]]) == 4 and len(drawn) >= 8, f"{len(drawn)} rounds were drawn")
    for one in drawn:
        expect(one["epsilon"] is None, "what a round has spent is not summed up")
        for key in ("stage", "agents", "chosen", "losses", "weights", "weight_noise", "regret_average", "regret_bound"):
            if key in ("losses", "weights") and one[key] is not None:
                # an expert that came later is unknown in both
                expect(one[key] == rounds[one["round"]][key][:len(one[key])], f"{key}: {one}, {rounds[one['round']]}")
            elif key not in ("losses", "weights"):
                expect(one.get(key) == rounds[one["round"]].get(key), f"{key}: {one}, {rounds[one['round']]}")
    bars = [[(one.get("weight_low"), one.get("weight_high")) for one in told["experts"]] for told in (last["result"], result)]
    expect(bars[0] == bars[1][:len(bars[0])], f"the bars of weights: {bars}")
    latest = [one for one in drawn if one["weights"]][-1]["weights"]
    expect(all((weight is None and low is None) or low <= weight <= high for weight, (low, high) in zip(latest, bars[0])),
           f"{latest} outside of {bars}")
    expect([r["noise"] for r in last["result"]["releases"]] == [r["noise"] for r in result["releases"]], "the noise")
    expect(all(expert.get("model") is None for expert in last["result"]["experts"]), "a model is drawn")


def listeners_delay_no_round(make, programs):
    """Sixteen that never read, and a stranger who opens and closes all the time: rounds take their slots, and no more."""
    federation = with_http(make, programs, agents=2)
    coordinator, agents = run_all(federation)
    place = port_of(federation, "coordinator")
    deaf = []
    for _ in range(16):
        one = socket.create_connection(place, timeout=5)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.send(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        deaf.append(one)
    while coordinator.code() is None and len(closed(federation)) < 15:
        with socket.create_connection(place, timeout=5) as one:
            one.send(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(0.005)
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    seconds = [one["seconds"] for one in closed(federation)[1:15]]
    in_time_of(statistics.median(seconds), seconds)
    stop(*agents)


def stops_with_listeners(make, programs):
    federation = with_http(make, programs, agents=1)
    coordinator, agents = run_all(federation)
    listeners = [Listener(port_of(federation, "coordinator")) for _ in range(5)]
    federation.wait_event("coordinator", "round-closed")
    stop(coordinator, *agents)
    for listener in listeners:
        while listener.next() is not None:
            pass


def with_a_queue(make, programs, http='http: {listen: "127.0.0.1:0"}\n'):
    federation = make(programs, agents=1, job=fed.job_text(minimum=1, fits=3, rounds=2), policy=fed.policy_text(epsilon=6),
                      agent_settings="")
    test_queue.write_settings(federation)
    settings = federation.office / "coordinator.yml"
    if http not in settings.read_text():
        settings.write_text(re.sub(r"(?m)^http:.*\n", "", settings.read_text()) + http)
    return federation


def results_are_for_download(make, programs):
    federation = with_a_queue(make, programs)
    federation.start_coordinator()
    federation.start_agent("site-1")
    place = port_of(federation, "coordinator")
    path = federation.folder / "first.yml"
    path.write_text(federation.job)
    test_queue.command(federation, "submit", path, "--json")
    out = federation.office / "jobs" / "1" / "out"
    expect(ask(place, "/results/1/result.json")[0] == 404, "a result before the end")
    fed.wait_until(lambda: (federation.office / "jobs" / "1" / "end").exists(), "the job does not end")
    fed.wait_until(lambda: len(json.loads(ask(place, "/api/status")[1])["facts"]["results"]) == 3, "the page offers three files")
    for name in ("result.json", "report.html", "model.json"):
        code, text, headers = ask(place, f"/results/1/{name}")
        expect(code == 200 and text == (out / name).read_text(), f"{name}: {code}")
        expect(headers["Content-Disposition"] == f'attachment; filename="job-1-{name}"', f"{headers}")
    for path in ("/results/1/", "/results/1/job.yml", "/results/01/result.json", "/results/1/../1/result.json", "/results/2/result.json",
                 "/results/1/result.json?", "/results/1/out/result.json", "/results/1/state/journal.db", "/results//result.json",
                 "/results/4294967297/result.json", "/results/1/%72esult.json"):
        expect(ask(place, path)[0] == 404, f"{path} is answered")
    (out / "model.json").unlink()
    (out / "model.json").symlink_to(federation.office / "key")
    expect(ask(place, "/results/1/model.json")[0] == 404, "a link was followed")


# Where the figures stand on the page, from the top, and what it says of jobs.
PLACES = """(() => JSON.stringify({ summary: document.getElementById("summary").textContent,
  rows: [...document.querySelectorAll("#jobs tbody tr")].map((one) => one.innerText),
  above: document.getElementById("figures").innerText, below: document.getElementById("more").innerText,
  after: Boolean(document.getElementById("results").compareDocumentPosition(document.getElementById("more")) & 4) }))()"""


def why_a_job_gave_no_result(make, programs):
    """A job that fails, and one that is cancelled: the page says why, in its list and above, as `status` does. What the program
    counts of pieces stands below the results."""
    federation = with_a_queue(make, programs)
    federation.start_coordinator()
    federation.start_agent("site-1")
    place = port_of(federation, "coordinator")
    path = federation.folder / "first.yml"
    path.write_text(federation.job.replace(f"join_deadline_s: {fed.PATIENCE_S}", "join_deadline_s: 1").replace("minimum: 1", "minimum: 2"))
    browser = browser_or_none(federation)
    try:
        for number, state in ((1, "failed"), (2, "cancelled")):
            test_queue.command(federation, "submit", path, "--json")
            if state == "cancelled":
                test_queue.command(federation, "cancel", number)
            fed.wait_until(lambda number=number: test_queue.is_filed(federation, number), "the job does not end")
            told = test_queue.status(federation, number)
            expect(told["state"] == state and told["because"], f"status: {told}")
            row = fed.wait_until(lambda number=number, state=state: next(
                (one for one in json.loads(ask(place, "/api/status")[1])["facts"]["queue"] if one["number"] == str(number) and one["state"] == state), None),
                                 "the page's list does not say that the job is over")
            expect(row["because"] == told["because"], f"the list says {row}, and status {told}")
            if browser is None:
                continue
            browser.show("http://%s:%d/" % place, 1280, "light")
            seen = fed.wait_until(lambda state=state: (json.loads(test_face_page.value(browser, PLACES))
                                                       if state in test_face_page.value(browser, PLACES) else None), "the page does not say it")
            expect(told["because"] in seen["summary"] and f"{state}: {told['because']}" in seen["rows"][0].replace("\n", " "), f"the page: {seen}")
            expect(seen["after"] and "pieces" in seen["below"] and "ieces" not in seen["above"], f"the figures: {seen}")
    finally:
        if browser is not None:
            browser.end()


def browser_or_none(federation):
    program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    return None if program is None else test_face_page.Browser(program, federation.folder)


def a_killed_coordinator_comes_back_to_the_page(make, programs):
    """kill -9 in the middle of the rounds: the page says so, stays, and goes on by itself. On the way a job is seen to its result."""
    federation = with_http(make, programs, agents=1)
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text().replace("127.0.0.1:0", f"127.0.0.1:{free_port()}"))  # the same one again
    browser = browser_or_none(federation)
    if browser is None:
        print("no chromium on PATH: the page is not opened")
        return
    try:
        coordinator, _ = run_all(federation)
        address = "http://%s:%d/" % port_of(federation, "coordinator")
        browser.show(address, 1280, "light")
        test_face_page.value(browser, "window.stays = 7")
        coordinator.kill()
        fed.wait_until(lambda: browser.live("The program does not answer"), "the page says that it is old")
        federation.start_coordinator()
        fed.wait_until(lambda: browser.live("Live"), "the page is live again")
        fed.wait_until(lambda: "are released" in browser.look()["text"] or browser.live("The program does not answer"), "the rounds go on to the end")
        expect(test_face_page.value(browser, "window.stays") == 7, "the page was loaded anew")
        ended = [one for one in browser.complaints if "exceptionDetails" in one]
        expect(ended == [], f"the page's script fails: {ended}")
    finally:
        browser.end()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


# 10,000 rounds as the page takes them from its stream, an event for every fourth one: a stream skips more. Measured after the
# first 500.
STREAM = """(() => {
  const told = %s;
  const rounds = told.drawn.result.rounds.filter((r) => r.losses);
  for (let i = %d; i < %d; i += 4) {
    told.status.facts.rounds_closed_total = i;
    told.status.facts.rounds_planned = 10000;
    told.status.facts.latest_rounds = Array.from({ length: 32 }, (_, j) => ({ closed: "2026", round: String(i - j), stage: "losses", agents: "3", seconds: "0.01" }));
    told.drawn.result.rounds = Array.from({ length: Math.min(i, 64) }, (_, j) => ({ ...rounds[j %% rounds.length], round: Math.floor(i * j / 64),
      losses: rounds[0].losses.map((v) => v + Math.sin(i + j)) }));
    show(told.status);
    if (i %% %d === 1) showLive(told.status.facts, told.drawn);
  }
  return document.querySelectorAll("*").length;
})()"""
DRAWN_EACH = 100  # of the rounds: a browser without a graphics card takes long for them


def ten_thousand_rounds_do_not_make_the_page_grow(make, programs):
    """By a stream that is made up in the page itself: as many real rounds would take minutes, and say the same."""
    federation = with_http(make, programs, agents=1)
    browser = browser_or_none(federation)
    if browser is None:
        return
    try:
        coordinator, agents = run_all(federation)
        place = port_of(federation, "coordinator")
        listener = Listener(place)
        told = None
        while told is None or told["drawn"] is None or not any(r.get("losses") for r in told["drawn"]["result"]["rounds"]):
            event = listener.next()
            if event is None:
                break
            told = event
            if len(closed(federation)) == 20:
                agents[0].signal(signal.SIGSTOP)  # the page stays open for long enough
                agents[0].signal(signal.SIGCONT)
        expect(told is not None and told["drawn"] is not None, "nothing was drawn")
        if not any(r.get("losses") for r in told["drawn"]["result"]["rounds"]):
            k = len(told["drawn"]["result"]["experts"])
            told["drawn"]["result"]["rounds"].append({"stage": "losses", "round": 20, "agents": 1, "failed": False, "chosen": None, "seconds": 0.01,
                                                      "epsilon": None, "losses": [0.5] * k, "weights": [1 / k] * k, "regret_average": 0.1,
                                                      "regret_bound": 1})
        kept = make(programs, agents=1, job=federation.job, policy=fed.policy_text(answer_slot_ms=3000))  # one whose page stays
        settings = kept.office / "coordinator.yml"
        settings.write_text(settings.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
        kept.start_coordinator()
        browser.show("http://%s:%d/" % port_of(kept, "coordinator"), 1280, "light")
        browser.call("HeapProfiler.enable")
        browser.call("Performance.enable")
        sizes = []
        for start, end in ((1, 500), (501, 10000)):
            for first in range(start, end, 500):
                nodes = test_face_page.value(browser, STREAM % (json.dumps(told), first, min(first + 500, end), DRAWN_EACH))
            browser.call("HeapProfiler.collectGarbage")
            found = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
            sizes.append((nodes, found["Nodes"], found["JSHeapUsedSize"]))
        print(f"elements, nodes, bytes of the heap after 500 and 10,000 rounds: {sizes}", flush=True)
        expect(sizes[0][0] is not None and sizes[1][0] <= sizes[0][0] + 20, f"the page grows: {sizes}")
        expect(sizes[1][1] <= 1.5 * sizes[0][1] + 500 and sizes[1][2] <= 1.5 * sizes[0][2] + 2e6, f"its memory grows: {sizes}")
        stop(coordinator)
    finally:
        browser.end()


def main():
    options = fed.options()
    cases = [(case.__name__, case, {"programs": options.programs})
             for case in (events_tell_what_the_result_will, listeners_delay_no_round, stops_with_listeners,
                              results_are_for_download, why_a_job_gave_no_result,
                              a_killed_coordinator_comes_back_to_the_page,
                              ten_thousand_rounds_do_not_make_the_page_grow) if options.only in case.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
