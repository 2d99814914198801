"""test_face_ahead.py - forecasts on the coordinator's live page: of a series by its released models, which `hedgerow predict` has to
repeat, and what a predict round answered for the job's public records. In a browser too, where there is one."""

import csv
import json
import os
import random
import signal
import sys

import federation as fed
import test_face_page
from federation import expect, must_fail
from test_face import port_of, run_all
from test_face_live import Listener, browser_or_none

DAYS = 240
CENTRE, HALF = 10, 4
SLOT_MS = 1500  # of rounds with slots, which are at the end: the page is read in the middle of them

HEAD = """hedgerow: 1
job: tomorrow
data:
  %(data)s
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 60}
cohort: {minimum: 2, records: %(records)d, join_deadline_s: %(s)d, deadline_s: %(s)d}
stages:
"""
SERIES = HEAD % {"data": f"label: {{centre: {CENTRE}, half_width: {HALF}}}\n  series: {{column: entries, lags: [1, 7]}}", "records": 200, "s": fed.PATIENCE_S} + """
  - {task: online, rounds: 2, t0: 25, share: 0.5, grid_bits: 32}
  - {task: losses, loss: absolute, rounds: 3, batch: 40, first: 80, share: 0.2, grid_bits: 16,
     forecasters: [{name: yesterday, features: [lag_1]}, {name: last week, features: [lag_7]}]}
  - {task: fit, loss: squared, lambdas: [0.5, 0.6, 0.7], share: 0.2, tolerance: 0.001, grid_bits: 16, experts: {own: true}}
  - {task: statistics, lambdas: [0.1], batch: 100, share: 0.1, grid_bits: 16}
"""
POINTS = HEAD % {"data": "label: {column: y, centre: 0, half_width: 1}\n  features: [{column: x, centre: 0, half_width: 1}]", "records": 100, "s": fed.PATIENCE_S} + """
  - {task: predict, loss: squared, lambdas: [0.5, 0.7], share: 0.8, grid_bits: 16, kernel: {kind: gaussian, gamma: 1}, points: [[-1], [0], [1]]}
  - {task: fit, loss: squared, lambdas: [0.5, 0.6, 0.7], share: 0.2, tolerance: 0.001, grid_bits: 16}
"""

# What the page shows of forecasts: its note, the tables below it, and whether ink is on each drawing.
SEEN = """(() => { const at = (id) => document.getElementById(id), ink = (id) => { const one = at(id);
    if (one.closest("[hidden]") || one.width === 0) return null;
    return new Set(new Uint32Array(one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)).size; };
  return JSON.stringify({ hidden: at("ahead").hidden, note: at("ahead-note").textContent, tomorrow: ink("chart-tomorrow"), days: ink("chart-days"),
    points: ink("chart-points"), told: at("chart-days").getAttribute("aria-label"),
    rows: [...document.querySelectorAll("#ahead-tables tbody tr")].map((one) => [...one.children].map((cell) => cell.textContent)) }); })()"""


def stream(seed):
    """Days that are made up: a week's shape, and what yesterday left."""
    dice, days = random.Random(seed), []
    for day in range(DAYS):
        days.append(min(14, max(6, 0.5 * (days[-1] if days else 10) + 0.5 * (11 if day % 7 < 5 else 8) + dice.gauss(0, 0.6))))
    return "entries\n" + "".join(f"{one:.3f}\n" for one in days)


def table(seed):
    dice = random.Random(seed)
    rows = [(x, 0.8 * x + dice.gauss(0, 0.1)) for x in (dice.uniform(-1, 1) for _ in range(150))]
    return "x,y\n" + "".join(f"{x:.3f},{y:.3f}\n" for x, y in rows)


def start(make, programs, job, data):
    federation = make(programs, agents=2, job=job, policy=fed.policy_text(epsilon=1000, tasks="[online, fit, losses, statistics, predict]",
                                                                         answer_slot_ms=SLOT_MS), linger_s=5)
    for i, name in enumerate(federation.names):
        (federation.folder / name / "data.csv").write_text(data(i + 1))
        federation.describe(name)
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
    return federation


def events_of(place):
    """Yields events as they come. The program cuts off a client that does not read for long, as this one beside a busy
    browser. Then it asks again."""
    while True:
        try:
            listener = Listener(place)
        except (OSError, fed.Failure):
            return
        while (event := listener.next()) is not None:
            if event["drawn"] is not None:
                yield event


def named(event, name):
    """The forecasts of the expert of that name, or None."""
    experts = event["drawn"]["result"]["experts"]
    return next((one for one in (event["forecasts"] or {"models": []})["models"] if experts[one["expert"]]["name"] == name), None)


def predicted(federation, level):
    """What `hedgerow predict` says of the day after ten alike, by the model of the result."""
    path = federation.folder / "days.csv"
    path.write_text("entries\n" + f"{level}\n" * 10 + "NA\n")
    out = federation.folder / "said.csv"
    run = federation.tool("hedgerow", "predict", "--model", federation.office / "out" / "model.json", "--data", path, "--out", out)
    expect(run.returncode == 0, f"predict: {run}")
    with out.open(encoding="utf-8") as file:
        return float(list(csv.reader(file))[-1][0])


def sees(seen):
    expect(not seen["hidden"] and seen["tomorrow"] > 5 and seen["days"] > 5 and seen["points"] is None, f"the drawings: {seen}")
    expect(len(seen["rows"]) >= 3 and any("\u00b1" in row[1] for row in seen["rows"]), f"the table: {seen}")
    expect("made up" in seen["note"] and "days" in seen["told"], f"the words: {seen}")


def in_browser(federation, agent, check, name):
    """Looks at the page, light and dark, narrow and wide, while the round waits for an agent."""
    agent.signal(signal.SIGSTOP)  # a browser takes its time to begin
    browser = browser_or_none(federation)
    try:
        if browser is None:
            print("no chromium on PATH: the page is not opened")
            return
        address = "http://%s:%d/" % port_of(federation, "coordinator")
        for theme, width in (("light", 360), ("light", 1280), ("dark", 360), ("dark", 1280)):
            browser.show(address, width, theme)
            seen = fed.wait_until(lambda: (lambda one: one if not one["hidden"] else None)(json.loads(test_face_page.value(browser, SEEN))), "forecasts")
            check(seen)
            look = browser.look()
            expect(look["wide"] <= width and look["contrast"] >= 4.5, f"{theme} at {width} px: {look['wide']} px wide, contrast {look['contrast']}")
            if "HEDGEROW_SHOTS" in os.environ:
                test_face_page.value(browser, "document.getElementById('ahead').scrollIntoView()")
                test_face_page.shoot(browser, os.environ["HEDGEROW_SHOTS"], f"{name}-{width}", theme)
        complaints = [one for one in browser.complaints if "exceptionDetails" in one]
        expect(not complaints, f"the page's script fails: {complaints}")
        must_fail("a page without forecasts", check, {**seen, "hidden": True})
    finally:
        agent.signal(signal.SIGCONT)
        if browser is not None:
            browser.end()


def a_series_is_forecast_while_rounds_go_on(make, programs):
    """Each release brings forecasts; models that the job writes have no noise, the first release has its own, and of statistics it is not
    known. In the end the chosen one's are what `hedgerow predict` says."""
    federation = start(make, programs, SERIES, stream)
    coordinator, agents = run_all(federation)
    last = None
    for event in events_of(port_of(federation, "coordinator")):
        expect(event["forecasts"] is not None or not event["drawn"]["result"]["experts"], "experts, and no forecasts")
        written = named(event, "last week")
        if written is not None:
            expect(written["noise"] == [0] * 9, f"a model of the job: {written}")
            expect(all(abs(v - level) < 1e-4 for v, level in zip(written["value"], event["forecasts"]["levels"])), f"as last week: {written}, {event['forecasts']}")
        if (online := named(event, "online, day 26")) is not None:
            expect(all(0 < noise < HALF for noise in online["noise"]), f"the noise of a release: {online}")
        closed = event["status"]["facts"]["rounds_closed_total"]
        expect(closed is None or closed != 1 or written is None, "a model of the job before its stage")
        if last is None and closed >= 5:  # its rounds are at their slots
            in_browser(federation, agents[0], sees, "series")
            last = event
        last = event if last is not None else None
    expect(coordinator.wait() == 0, f"the coordinator ended with {coordinator.code()}")
    expect(last is not None, "the page was not told of the rounds behind the losses")
    ahead, result = last["forecasts"], federation.result()
    if last["drawn"]["result"]["chosen"] == result["chosen"]:
        chosen = named(last, result["chosen"])
        for level, value in zip(ahead["levels"], chosen["value"]):
            expect(abs(predicted(federation, level) - value) < 1e-4, f"predict says {predicted(federation, level)} after {level}, the page {value}")
        expect(len(ahead["paths"]) == 3 and all(len(one["value"]) == 28 for one in ahead["paths"]), f"the days: {ahead['paths']}")
    own = [one for one in last["drawn"]["result"]["experts"] if one["name"].startswith("site-1, lambda")]
    expect(own, "the sites' own models are experts")


def answers_points(seen):
    expect(not seen["hidden"] and seen["points"] > 5 and seen["tomorrow"] is None, f"the drawing: {seen}")
    expect(len(seen["rows"]) == 3 and " to " in seen["rows"][0][2], f"the table: {seen}")


def predictions_of_public_records_are_shown(make, programs):
    """What a predict round answered is on the page as soon as it is released, to the number as in the result."""
    federation = start(make, programs, POINTS, table)
    coordinator, agents = run_all(federation)
    told = {}
    looked = False
    for event in events_of(port_of(federation, "coordinator")):
        expect(event["forecasts"] is None, "a table is no series")
        for one in event["drawn"]["result"]["answers"]:
            told[one["name"]] = one
        if not looked and event["status"]["facts"]["rounds_closed_total"] >= 2:
            in_browser(federation, agents[0], answers_points, "points")
            looked = True
    expect(coordinator.wait() == 0 and looked, f"the coordinator ended with {coordinator.code()}")
    answers = {one["name"]: one for one in federation.result()["answers"]}
    expect(len(told) >= 3 and set(told) <= set(answers), f"{set(told)} of {set(answers)}")
    for name, one in told.items():
        expect(all(one[key] == answers[name][key] for key in ("value", "low", "high", "unit")), f"{one}, {answers[name]}")


def main():
    options = fed.options()
    cases = [(case.__name__, case, {"programs": options.programs})
             for case in (a_series_is_forecast_while_rounds_go_on, predictions_of_public_records_are_shown) if options.only in case.__name__]
    return fed.run_cases(cases, at_once=2)


if __name__ == "__main__":
    sys.exit(main())
