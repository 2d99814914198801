"""test_lanes_computing.py - of jobs at the same time in one coordinator, one that is large or computes for seconds.

A job of 10^6 words does not hold up the rounds of a job of a few, and neither does one whose sums take seconds to solve. A stop
in the middle of such a computation ends the coordinator within its grace; the next start asks for the same answers, and nobody
pays twice.
"""

import datetime
import json
import signal
import statistics
import sys
import time

import federation as fed
import journals
import test_face
from federation import expect
from lanes import CLASSES, FEATURES, give_kinds, heavy_text, large_text, latest_page, make_office, phase, run

ROUNDS_SMALL = 40
SOLVED_LEAST_MS = 500  # else nothing was measured
OVERLAP_LEAST = 3  # rounds of the small job within that computation, else nothing was measured
STOP_S = 20  # for a grace of 2 s, on a machine that does other things too
DELAY_MS = 1000  # a round of the small job may be that much longer: the other one's share of two processors


def seconds_of(office, name):
    """The time between rounds, of those whose answers leave at once."""
    walls = [record["wall_ms"] for record in office.rounds(name)]
    return [b - a for a, b in zip(walls[1:], walls[2:])]


def shares(make, programs, keys):
    """A job of 10^6 words a round beside one of a few: the small one's rounds keep their pace."""
    office = make_office(make, programs, keys)
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        small = fed.job_text(minimum=2, rounds=ROUNDS_SMALL).replace("cohort:\n", "cohort:\n  agents: [site-1, site-2]\n")
        office.submit("alone", small)
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("alone", ("done", "failed"))
        office.submit("large", large_text())
        office.until("large", ("running",))
        office.submit("small", small)
        office.until("small", ("done", "failed"))
        during = office.status("large")["state"]
        office.until("large", ("done", "failed"))
        expect(office.status("large")["state"] == "done", f"the large job: {office.status('large')}")
        alone, loud = seconds_of(office, "alone"), seconds_of(office, "small")
        print(f"rounds of a few words: {statistics.median(alone):.0f} ms alone, at most {max(alone)}; beside rounds of "
              f"{2 * CLASSES * FEATURES} words {statistics.median(loud):.0f} ms, at most {max(loud)}; the large job was {during} at the end")
        fed.in_time(max(loud) - max(alone) < DELAY_MS, f"a round took {max(loud)} ms, alone {max(alone)} ms")


def log_ms(entry):
    return datetime.datetime.fromisoformat(entry["time"].replace("Z", "+00:00")).timestamp() * 1000


def solves(make, programs, keys):
    """A job that solves for seconds beside one of a few words: the small one's rounds keep their pace, and /healthz answers.
    A loop that stands still would delay a round by the whole computation. A round may be delayed by less than half of it,
    and by less than DELAY_MS."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        small = fed.job_text(minimum=2, rounds=ROUNDS_SMALL).replace("cohort:\n", "cohort:\n  agents: [site-1, site-2]\n")
        office.submit("alone", small)
        office.start()
        place = test_face.port_of(office.federation, "coordinator")
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("alone", ("done", "failed"))
        office.submit("heavy", heavy_text())
        fed.wait_until(lambda: phase(place, office.number["heavy"]) == "computing", "the heavy job computes")
        office.submit("small", small)
        office.until("small", ("done", "failed"))
        office.until("heavy", ("done", "failed"))
        expect(office.status("heavy")["state"] == "done", f"the heavy job: {office.status('heavy')}")
        closed = next(entry for entry in office.federation.events("coordinator")
                      if entry["event"] == "round-closed" and entry["job"] == office.number["heavy"])
        began, ended = office.rounds("heavy")[0]["wall_ms"], log_ms(closed)
        walls = [record["wall_ms"] for record in office.rounds("small")]
        within = [b - a for a, b in zip(walls, walls[1:]) if began <= a and b <= ended]
        alone = seconds_of(office, "alone")
        print(f"the heavy job computed for {ended - began:.0f} ms; meanwhile {len(within)} rounds of the small one, at most "
              f"{max(within, default=0)} ms, alone at most {max(alone)} ms")
        expect(ended - began > SOLVED_LEAST_MS, f"it computed for {ended - began:.0f} ms: too short to hold anybody up")
        fed.in_time(len(within) >= OVERLAP_LEAST, f"{len(within)} rounds of the small job were closed while the heavy one computed")
        most = min(DELAY_MS, (ended - began) / 2)
        fed.in_time(max(within) - max(alone) < most, f"a round took {max(within)} ms, alone {max(alone)} ms")


def filing(make, programs, keys):
    """While a job's results are made it has no machine, and keeps its place: the page says that it runs until it is filed, counts
    it neither as set aside nor as waiting, and shows it to a person who has picked it."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        office.submit("heavy", heavy_text())
        office.start()
        place = test_face.port_of(office.federation, "coordinator")
        for site in office.federation.names:
            office.federation.start_agent(site)
        number = office.number["heavy"]
        office.until("heavy", ("running",))
        fed.wait_until(lambda: phase(place, number) is not None, "the page tells of the heavy job")
        without = 0

        def look():
            nonlocal without
            code, text, _ = test_face.ask(place, f"/api/jobs/{number}")
            facts = test_face.status(place)
            row = facts["queue"][0]
            expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (0, 0), f"the page counts {facts['jobs_set_aside']}, {facts['jobs_waiting']}")
            if row["state"] == "running":  # and so it was when the first of the two was asked
                expect(code == 200, f"/api/jobs/{number} gave {code} while {row}")
                told = json.loads(text)["status"]
                expect(told["shown"] == number and told["facts"]["job_info"][0]["job"] == "heavy", f"told of the job: {told}")
                without += row["agents"] == ""  # there is no machine
                return False
            expect(row["state"] == "done" and row["rounds"] == "1 of 1", f"the row: {row}")
            expect(sorted(row["file"] for row in facts["results"]) == ["model.json", "report.html", "result.json"], f"results: {facts['results']}")
            return True

        fed.wait_until(look, "the heavy job is filed")
        expect(test_face.ask(place, f"/api/jobs/{number}")[0] == 404, "a job that was filed is told of as one that runs")
        fed.in_time(without > 0, "no look fell into the time while the results were made")


def stopped(make, programs, keys):
    """A stop, and a kill, in the middle of a long computation: nothing of it is kept, and the round is computed anew from the
    answers that were paid for."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        give_kinds(office, 5 * ROUNDS_SMALL)
        office.submit("heavy", heavy_text())
        for site in office.federation.names:
            office.federation.start_agent(site)
        for sent in (signal.SIGTERM, signal.SIGKILL):
            office.start()

            def computes():
                listens = [entry for entry in office.federation.events("coordinator") if entry["event"] == "http-listening"]
                return len(listens) == starts and phase(latest_page(office), office.number["heavy"]) == "computing"

            starts = 1 if sent == signal.SIGTERM else 2
            fed.wait_until(computes, "the heavy job computes")
            began = time.monotonic()
            office.process.signal(sent)
            code = office.process.wait()
            took = time.monotonic() - began
            expect(code == (0 if sent == signal.SIGTERM else -signal.SIGKILL), f"it ended with {code}")
            fed.in_time(took < STOP_S, f"a stop took {took:.1f} s")
            # The computation may have ended before the signal came. A round that nobody has computed is there in every attempt.
            fed.in_time(not office.rounds("heavy"), "a round was committed, computed or not")
        office.start()
        office.until("heavy", ("done", "failed"))
        expect(office.status("heavy")["state"] == "done", f"the heavy job: {office.status('heavy')}")
        for site in ("site-3", "site-4"):
            paid = [record["round"] for _, record, _ in journals.read(office.federation.folder / site / "state")
                    if record["kind"] == "answer"]
            expect(paid == [0], f"{site} has paid for {paid}")


if __name__ == "__main__":
    sys.exit(run((stopped, filing), alone=(shares, solves), figures=(1, "0: measure nothing, as where the programs are slow")))
