"""test_lanes.py - jobs that ask different agents, at the same time in one coordinator.

Two jobs run beside each other, and a third one, which asks an agent of each, after both. Each has one paid answer of every
site that it asks to each of its rounds and of no other site, however often the coordinator is killed, and also where
another job is cancelled meanwhile. The page tells of all that run.
"""

import random
import signal
import sys
import time

import federation as fed
import test_face
from federation import expect
from lanes import AGENTS, ASKS, ROUNDS, check, make_office, run, text_of, times

SEED = 57
STORMS = 3
PAGE_FITS = 24  # long enough for a look at the page


def beside(make, programs, keys):
    """Two at the same time; the third waits for both. Lines of the log name their job."""
    office = make_office(make, programs, keys)
    with office.federation:
        for name in ASKS:
            office.submit(name, text_of(name))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ASKS:
            office.until(name, ("done", "failed"))
        check(office)
        (west, west_end), (east, east_end), (middle, _) = (times(office, name) for name in ASKS)
        expect(west < east_end and east < west_end, f"one after another: {west}-{west_end}, {east}-{east_end}")
        expect(middle >= max(west_end, east_end), "the third did not wait for the agents that it asks")
        closed = {entry.get("job") for entry in office.federation.events("coordinator") if entry["event"] == "round-closed"}
        expect(closed == {1, 2, 3}, f"lines of rounds name the jobs {closed}")
        kept = office.rounds
        office.rounds = lambda name: kept(name)[1:]
        fed.must_fail("a round is missing", check, office)
        office.rounds = kept
        ASKS_PLANTED = dict(ASKS)
        ASKS["west"] = ("site-1", "site-3")
        fed.must_fail("an agent that was not asked", check, office)
        ASKS.update(ASKS_PLANTED)


def storm(make, programs, keys, seed):
    """The coordinator is killed at any time: all that ran goes on, and nothing is asked or paid for twice."""
    dice = random.Random(seed)
    office = make_office(make, programs, keys)
    with office.federation:
        for name in ASKS:
            office.submit(name, text_of(name))
        for site in office.federation.names:
            office.federation.start_agent(site)
        for _ in range(5):
            office.start()
            time.sleep(dice.uniform(0.1, 1.5))
            office.process.signal(signal.SIGKILL)
            office.process.wait()
        office.start()
        for name in ASKS:
            office.until(name, ("done", "failed"))
        check(office)


def cancelled(make, programs, keys):
    """One of two is cancelled: the other one goes on, and the one that waited for its agent begins."""
    office = make_office(make, programs, keys)
    with office.federation:
        office.submit("west", text_of("west").replace("agents: [site-1, site-2]", "agents: [site-1, site-2, nobody]")
                      .replace("minimum: 2", "minimum: 3"))
        office.submit("east", text_of("east"))
        office.submit("middle", text_of("middle"))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("east", ("done",))
        expect(office.status("west")["state"] == "running", "the first waits for its third agent")
        expect(office.status("middle")["state"] == "waiting", "the third waits for the first")
        office.command("cancel", office.number["west"])
        office.until("west", ("cancelled",))
        office.until("middle", ("done",))
        check(office, ("east", "middle"))


def one_at_a_time(make, programs, keys):
    """With `jobs_at_once: 1` jobs run one after another."""
    office = make_office(make, programs, keys, more="jobs_at_once: 1\n")
    with office.federation:
        for name in ("west", "east"):
            office.submit(name, text_of(name))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ("west", "east"):
            office.until(name, ("done", "failed"))
        check(office, ("west", "east"))
        expect(times(office, "east")[0] >= times(office, "west")[1], "two ran at the same time")


def of_job(samples, number):
    """Figures of a family with the label of one job, by their other labels."""
    mine = {labels: value for labels, value in samples.items() if ("job_number", str(number)) in labels}
    return {tuple(one for one in labels if one[0] != "job_number"): value for labels, value in mine.items()}


def tells_of_both(place, waits, runs):
    """Two jobs run: one of the lowest number that waits for an agent, and one with rounds."""
    now, whole = test_face.metrics(place), test_face.whole_status(place)
    facts = whole["facts"]
    jobs = {one["job_number"]: one["facts"] for one in whole["jobs"]}
    expect(set(jobs) == {waits, runs}, f"jobs of the status: {set(jobs)}")
    for number, name, planned in ((waits, "east", ROUNDS), (runs, "west", PAGE_FITS + 2)):
        info = dict(next(labels for labels in now["job_info"] if ("job_number", str(number)) in labels))
        expect(info["job"] == jobs[number]["job_info"][0]["job"] == name, f"job {number} is {info}, {jobs[number]['job_info']}")
        expect(of_job(now["rounds_planned"], number)[()] == jobs[number]["rounds_planned"] == planned, f"job {number}: rounds planned")
        expect(sum(of_job(now["job_phase"], number).values()) == 1, f"job {number}: {now['job_phase']}")
        expect(of_job(now["journal_bytes"], number)[()] > 1000, f"job {number}: the size of its journal, {now['journal_bytes']}")
        expect(jobs[number]["journal_bytes"] > 1000, f"job {number}: the size of its journal, {jobs[number]}")
    expect(of_job(now["rounds_closed_total"], runs)[()] > 0 and of_job(now["epsilon_spent"], runs)[()] > 0, "the rounds of the job that runs")
    expect(of_job(now["rounds_closed_total"], waits)[()] == 0, "rounds of the job that waits")
    expect(whole["shown"] == runs and facts["job_info"][0]["job"] == "west", f"the page tells of {whole['shown']}, {facts['job_info']}")
    rows = {int(row["number"]): row for row in facts["queue"]}
    expect(rows[waits]["waits"] in ("for agents: 2 of 3 ready", "for approval: 2 of 3 ready"), f"the list says {rows[waits]}")
    expect(rows[runs]["waits"] == "" and rows[runs]["agents"] == "2 of 2 ready" and rows[runs]["left"] != "", f"the list says {rows[runs]}")
    expect(rows[waits]["state"] == rows[runs]["state"] == "running", f"the list says {rows}")
    expect(sum(now["agents"].values()) == len(now["agent_info"]) == AGENTS, f"agents: {now['agents']}, {now['agent_info']}")


def tells_of_the_picked(place, waits, absent):
    """A client that asks for a job that runs is told of it, as in an event. Other jobs are not told."""
    told = test_face.whole_status(place, f"/api/jobs/{waits}")
    expect(told["status"]["shown"] == waits and told["status"]["facts"]["job_info"][0]["job"] == "east", "another job than was asked for")
    expect(told["drawn"]["result"]["job"] == "east", f"another job is drawn: {told['drawn']}")
    for path in (f"/api/jobs/{absent}", f"/api/jobs/0{waits}", f"/api/jobs/{waits}/", f"/api/jobs/+{waits}", "/api/jobs/", "/api/jobs/x",
                 f"/api/jobs/{waits}?x", f"/api/jobs/%3{waits}", "/api/jobs/4294967297"):
        expect(test_face.ask(place, path)[0] == 404, f"{path} is answered")


def page(make, programs, keys):
    """Page, status and metrics tell of all jobs that run, by number. The page draws a job with rounds before one that waits,
    whatever their numbers. While no job runs, they still tell of the agents and of the latest release."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("east", text_of("east").replace("minimum: 2", "minimum: 3").replace("site-4]", "site-4, nobody]"))
        office.submit("west", text_of("west", PAGE_FITS))
        office.submit("middle", text_of("middle"))
        waits, runs, absent = (office.number[name] for name in ("east", "west", "middle"))
        office.start()
        agents = [office.federation.start_agent(site) for site in office.federation.names]
        place = test_face.port_of(office.federation, "coordinator")

        def look():
            code, said, _ = test_face.ask(place, "/healthz")
            expect(code == 200, f"/healthz says {code} {said}")
            return test_face.status(place)

        def two_run():
            facts = look()
            rows = facts["queue"]
            return facts if [row["state"] for row in rows] == ["waiting", "running", "running"] and not rows[1]["rounds"].startswith("0 ") else None

        facts = fed.wait_until(two_run, "two run, and one has a round")
        expect(facts["jobs_waiting"] == 1, f"of three jobs {facts['jobs_waiting']} wait")
        fed.wait_until(lambda: of_job(test_face.metrics(place)["agents_ready"], waits)[()] == 2, "two are ready for the one that waits")
        tells_of_both(place, waits, runs)
        tells_of_the_picked(place, waits, absent)
        said = office.command("status", waits)
        expect("no round is released" in said, f"`status` of a job that waits says: {said}")
        office.until("west", ("done",))
        fed.wait_until(lambda: look()["job_info"][0]["job"] == "east", "the page tells of the other")
        kept = of_job(test_face.metrics(place)["last_release_timestamp_seconds"], runs)
        expect(kept and abs(kept[()] - times(office, "west")[1] / 1000) < 0.01, f"the latest release is forgotten: {kept}")
        office.command("cancel", waits)
        office.until("middle", ("done",))

        def none_runs():
            now = test_face.metrics(place)
            return now if "job_info" not in now and now["agents"].get((("state", "without a job"),)) == AGENTS else None

        now = fed.wait_until(none_runs, "no job runs, and the agents are there")
        expect(sum(now["agents"].values()) == len(now["agent_info"]) == AGENTS, f"agents while no job runs: {now['agents']}")
        kept = now["last_release_timestamp_seconds"]
        expect(list(of_job(kept, absent)) == [()] and len(kept) == 1, f"the latest release of the latest job: {kept}")
        agents[0].kill()
        fed.wait_until(lambda: test_face.metrics(place)["agents"].get((("state", "not connected"),)) == 1, "one is gone")


def storms(options):
    return [(f"storm {i}", storm, {"seed": SEED + i}) for i in range(0, options.storms, options.every)]


if __name__ == "__main__":
    sys.exit(run((beside, cancelled, one_at_a_time, page), seeds=storms, storms=(STORMS, "cases with kills at any time")))
