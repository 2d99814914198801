"""shared_queue.py - what the tests of a queue in PostgreSQL share: coordinators that share it, as operators see them, and the runs
of disturbed queues. Cases that disturb the server disturb every federation, so they run one at a time."""

import json
import os
import signal
import time
import urllib.parse

import federation as fed
import journals
from federation import expect
from test_takeover import ask, cut, has_database, psql, restart, seed_ways


class Coordinators:
    """Coordinators that share a queue. A subclass makes the federation, and says where a coordinator's settings are and what a
    job's text is."""

    def __init__(self, schema):
        self.schema = schema = f"{schema}_{time.monotonic_ns()}"  # a case that came too late is tried again in an empty one
        self.url = f"{os.environ['DATABASE_URL']}&options={urllib.parse.quote('-csearch_path=' + schema)}"
        ask(self.url, f"CREATE SCHEMA IF NOT EXISTS {schema}; SELECT 1")
        self.federation = None
        self.running = {}
        self.agents = {}

    def settings(self, at):
        raise NotImplementedError

    def text(self, name, **options):
        raise NotImplementedError

    def command(self, at, *words, code=0):
        """Runs a command at a coordinator's machine. The coordinator may lead or not, or be dead."""
        got, said = self.federation.tool("hedgerow-coordinator", *words, "--config", self.settings(at))
        expect(code is None or got == code, f"{' '.join(map(str, words))} ended with {got}, not {code}: {said}")
        return said if code is not None else (got, said)

    def patient(self, at, *words):
        """The same where the server may be away just now."""
        return fed.wait_until(lambda: [said for got, said in [self.command(at, *words, code=None)] if got == 0],
                              f"{' '.join(map(str, words))} is answered")[0]

    def file(self, name, **options):
        path = self.federation.folder / f"{name}.yml"
        path.write_text(self.text(name, **options))
        return path

    def status(self, at, number):
        return json.loads(self.patient(at, "status", number, "--json"))

    def until(self, at, number, state, seconds=fed.PATIENCE_S):
        def reached():
            now = self.status(at, number)
            return now["state"] == state and (now["ended"] or state == "running")
        fed.wait_until(reached, f"job {number} is {state}", seconds=seconds)

    def records(self, number):
        said = psql(self.url, f"SELECT count(*) FROM {self.schema}_job_{number}.hedgerow_record")
        return int(said) if said else 0

    def wait_records(self, number, count):
        fed.wait_until(lambda: self.records(number) >= count, f"job {number} has {count} records")

    def kept(self, number):
        """The records of a job's journal."""
        rows = ask(self.url, f"SELECT encode(body, 'hex') FROM {self.schema}_job_{number}.hedgerow_record ORDER BY sequence").split()
        return [journals.record(bytes.fromhex(row)) for row in rows]

    def damage(self, number):
        """Its second record is not what was written."""
        schema = f"{self.schema}_job_{number}"
        ask(self.url, f"DROP TRIGGER stays ON {schema}.hedgerow_record; UPDATE {schema}.hedgerow_record"
                      " SET chain = decode(repeat('00', 32), 'hex') WHERE sequence = 2; SELECT 1")

    def leader(self):
        """Who leads by the lease's row, in a list; [] where nobody does now."""
        said = psql(self.url, "SELECT holder FROM hedgerow_lease WHERE until > clock_timestamp()")
        return [at for at, process in self.running.items() if said and said.strip().endswith(f"process {process.popen.pid}")]

    def stop(self):
        """Every coordinator ends well on SIGTERM, also one that stands by or collects."""
        for at, process in self.running.items():
            process.signal(signal.SIGTERM)
            expect(process.wait() == 0, f"coordinator {at} did not end well after SIGTERM")


def run(cases, alone=(), case=None, every=()):
    """cases: functions that are cases by themselves; alone: cases that disturb the server; case, every: a case and the ways to
    disturb it, which the seed chooses."""
    options = fed.options(at_once=(2, "federations at a time"), seeds=(6, "disturbed queues"), first=(0, "the first seed"))
    if not has_database():
        return 77
    common = {"programs": options.programs}
    groups = [[(one.__name__, one, common) for one in cases], [(one.__name__, one, common) for one in alone]]
    for seed, ways, name in seed_ways(options.first, options.seeds, every) if every else ():
        groups[restart in ways or cut in ways].append((name, case, {**common, "seed": seed, "ways": ways}))
    cases, alone = ([one for one in group if fed.is_chosen(one[0], options.only)] for group in groups)
    failed = fed.run_cases(cases, at_once=options.at_once) if cases or not alone else 0
    return max(failed, fed.run_cases(alone, at_once=1) if alone else 0)
