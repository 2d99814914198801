"""test_lanes_journals.py - of jobs at the same time in one coordinator, one whose journal is damaged or taken away, or whose results
cannot be written: the others go on, and nobody pays twice."""

import contextlib
import json
import shutil
import signal
import sqlite3
import sys

import federation as fed
import journals
import test_face
from federation import expect
from lanes import ASKS, ROUNDS, check, give_kinds, large_text, latest_page, make_office, run, text_of

FEATURES_GONE = 1024  # blobs of 512 KiB have files of their own
ROUNDS_GONE = 40
FITS_GONE = 24


def spoil(place):
    """Zeros in the place of a journal's first record."""
    with contextlib.closing(sqlite3.connect(place / "journal.db")) as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE record SET body = zeroblob(length(body)) WHERE sequence = 1")
        database.commit()


def expect_aside(office, name):
    """What every command says of a job whose journal cannot be read."""
    number = office.number[name]
    said = office.command("jobs")
    expect("set aside" in said and "its journal cannot be read" in said and name in said, f"jobs: {said}")
    listed = json.loads(office.command("jobs", "--json"))
    row = next(row for row in listed["jobs"] if row["number"] == number)
    expect(row["state"] == "set aside" and row["job"] == name and row["stuck"] and row["begun"], f"the row: {row}")
    expect((row["epsilon"], row["delta"], row["rounds"], row["rounds_planned"]) == (None, None, None, ROUNDS), f"the row: {row}")
    said = office.command("status", number)
    expect("set aside" in said and "not known here: the sites' ledgers have it" in said, f"status: {said}")
    expect("set aside" in office.command("watch", number, code=3), "watch of what stands still")


def damage_west(office):
    """Runs west until it has two rounds, kills the coordinator, and damages west's journal. Returns the journal's folder; a whole copy
    is kept for bring_back."""
    office.start()
    for site in office.federation.names:
        office.federation.start_agent(site)
    office.until("west", ("running",))
    fed.wait_until(lambda: len(office.rounds("west")) >= 2, "west has two rounds")
    office.process.signal(signal.SIGKILL)
    office.process.wait()
    place = office.federation.office / "jobs" / str(office.number["west"]) / "state"
    shutil.copytree(place, office.federation.folder / "copy")
    spoil(place)
    return place


def bring_back(office, place):
    """Puts the copy in the journal's place, and starts the coordinator again."""
    shutil.rmtree(place)
    shutil.copytree(office.federation.folder / "copy", place)
    office.start()


def given_up(make, programs, keys):
    """A job whose journal is damaged is cancelled. It never goes on, also if its journal comes back."""
    office = make_office(make, programs, keys)
    with office.federation:
        office.submit("west", text_of("west"))
        place = damage_west(office)
        office.start()
        fed.wait_until(lambda: "job-set-aside" in {entry["event"] for entry in office.federation.events("coordinator")},
                       "west is set aside")
        said = office.command("cancel", office.number["west"])
        expect("never will" in " ".join(said.split()), f"the cancellation: {said}")
        now = office.status("west")
        expect(now["state"] == "cancelled" and "what was paid cannot be told here" in now["because"], f"cancelled: {now}")
        expect(office.status("west")["ended"] is None, "it was filed before anybody looked")
        office.command("cancel", office.number["west"], code=3)
        office.submit("middle", text_of("middle"))  # a coordinator that runs a job looks at the queue
        office.until("west", ("cancelled",))
        office.until("middle", ("done",))
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        before = {site: office.federation.ledger(site)["spent"]["epsilon"] for site in office.federation.names}
        bring_back(office, place)
        office.submit("east", text_of("east"))
        office.until("east", ("done",))
        now = office.status("west")
        expect((now["state"], now["epsilon"], now["stuck"]) == ("cancelled", None, False), f"it came back: {now}")
        expect(office.federation.ledger("site-1")["spent"]["epsilon"] == before["site-1"], "site-1 answered west again")


def damaged(make, programs, keys):
    """The journal of one of two is damaged while the coordinator is down: that job stands still, and the others go on, also
    one that asks an agent of that job. Once a copy is brought back, the job goes on. A site that answered its open round
    before, and has dropped this answer for another job, declines. No site pays twice."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("west", text_of("west"))
        office.submit("east", text_of("east"))
        place = damage_west(office)
        expect_aside(office, "west")
        office.start()
        office.submit("middle", text_of("middle"))
        office.until("east", ("done",))
        office.until("middle", ("done",))
        check(office, ("east", "middle"), known=("recovery-failed",))
        expect_aside(office, "west")
        facts = test_face.status(latest_page(office))
        rows = {row["job"]: row["state"] for row in facts["queue"]}
        expect(rows == {"west": "set aside", "east": "done", "middle": "done"}, f"the page's queue: {rows}")
        expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (1, 0), f"the page counts: {facts}")
        aside = [entry for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect([entry["job"] for entry in aside] == [office.number["west"]], f"set aside: {aside}")
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        bring_back(office, place)
        office.until("west", ("done", "failed"))
        check(office, ("east", "middle"), known=("recovery-failed",))
        expect([one["round"] for one in office.rounds("west")][:3] == [0, 1, 2], "west did not go on where it was")
        west = next(record["job"] for record in office.records("west") if record["kind"] == "job")
        for site in ASKS["west"]:
            paid = [record["round"] for _, record, _ in journals.read(office.federation.folder / site / "state")
                    if record["kind"] == "answer" and record["job"] == west]
            expect(len(paid) >= 2 and len(paid) == len(set(paid)), f"{site} has paid west for {paid}")


def expect_unwritten(office, name, page=True):
    """What every command and the page say of a job that is over, whose results cannot be written."""
    number, words = office.number[name], ("its results cannot be written", "result.json", "remedy: mend that and start again")
    listed = json.loads(office.command("jobs", "--json"))
    row = next(row for row in listed["jobs"] if row["number"] == number)
    expect(row["state"] == "set aside" and row["stuck"] and row["rounds"] == row["rounds_planned"], f"the row: {row}")
    for said in (row["because"], office.command("jobs"), office.command("status", number), office.command("watch", number, code=3)):
        expect(all(word in " ".join(said.split()) for word in words), f"what is said of {name}: {said}")
    if page:
        facts = test_face.status(latest_page(office))
        row = next(row for row in facts["queue"] if row["job"] == name)
        expect(row["state"] == "set aside" and all(word in row["because"] for word in words), f"the page's queue: {facts['queue']}")
        expect((facts["jobs_set_aside"], facts["jobs_waiting"]) == (1, 0), f"the page counts: {facts}")


def unwritten(make, programs, keys):
    """The results of a job cannot be written: the job is set aside, and others go on with its agents. Once the obstacle is
    gone, a new start writes the results and asks nobody."""
    office = make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n')
    with office.federation:
        office.submit("west", text_of("west"))
        office.submit("middle", text_of("middle"))
        obstacle = office.federation.office / "jobs" / str(office.number["west"]) / "out" / "result.json"
        obstacle.mkdir(parents=True)
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        office.until("middle", ("done",))
        aside = [entry for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect([entry["job"] for entry in aside] == [office.number["west"]], f"set aside: {aside}")
        expect("result.json" in aside[0]["text"], f"set aside: {aside}")
        expect_unwritten(office, "west")
        office.process.signal(signal.SIGTERM)
        expect(office.process.wait() == 0, "the coordinator did not end well")
        expect_unwritten(office, "west", page=False)
        obstacle.rmdir()
        office.start()
        office.until("west", ("done",))
        expect(office.status("west")["because"] is None, f"it is mended: {office.status('west')}")
        check(office, ("west", "middle"))


def gone(make, programs, keys):
    """Somebody takes two jobs' journals away while they run. The job whose blobs have files notices at its next round, the
    other one at its end. Neither begins again, as sites would pay once more. Other jobs go on with their agents."""
    office = make_office(make, programs, keys)
    with office.federation:
        give_kinds(office, 200)
        office.submit("large", large_text(features=FEATURES_GONE, rounds=ROUNDS_GONE))
        office.submit("west", text_of("west", fits=FITS_GONE))
        office.start()
        for site in office.federation.names:
            office.federation.start_agent(site)
        for name in ("large", "west"):
            office.until(name, ("running",))
        fed.wait_until(lambda: office.rounds("large") and office.rounds("west"), "both have rounds")
        for name in ("large", "west"):
            # By one rename, because a folder that is removed file by file gets new files meanwhile.
            (office.federation.office / "jobs" / str(office.number[name]) / "state").rename(office.federation.folder / f"{name}-state")
        office.submit("middle", text_of("middle"))
        office.until("middle", ("done",))
        check(office, ("middle",), known=("commit-failed",))
        aside = [entry["job"] for entry in office.federation.events("coordinator") if entry["event"] == "job-set-aside"]
        expect(sorted(aside) == [1, 2], f"set aside: {aside}")
        for name in ("large", "west"):
            expect("bring the journal back" in office.status(name)["because"], f"{name}: {office.status(name)}")


if __name__ == "__main__":
    sys.exit(run((damaged, given_up, gone, unwritten)))
