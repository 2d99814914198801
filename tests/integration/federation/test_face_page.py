"""test_face_page.py - both programs' pages in a browser, while a job runs: at 360, 768, 1280 and 3840 px, light and dark, nothing stands
beyond the page's width, text has contrast, and no table is out of reach of keys. With --axe 1 axe-core looks at both pages, and nothing else does. Skipped (77) where
there is no Chromium, or no axe-core.

The browser is driven through its pipe (--remote-debugging-pipe): messages in JSON, each followed by a zero byte."""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import federation as fed
import lanes
import site_page
from federation import expect, must_fail
from test_face import port_of

WIDTHS = (360, 768, 1280, 3840)
THEMES = ("light", "dark")
SKIPPED = 77
NAME = "a-name-of-many-letters-that-has-no-place-to-be-broken-at-all"

# WCAG's relative luminance and contrast of each element's text, against the first painted background.
LOOK = """(() => {
  const root = document.documentElement;
  const light = (c) => c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const colour = (text) => text.match(/[0-9.]+/g).map(Number);
  const ground = (one) => { for (let at = one; at; at = at.parentElement) {
    const c = colour(getComputedStyle(at).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const contrast = (one) => { const [a, b] = [light(colour(getComputedStyle(one).color).slice(0, 3)), light(ground(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
  const texts = [...document.querySelectorAll("h1, h2, p, dt, dd, th, td, a, button")];
  return JSON.stringify({ width: innerWidth, wide: root.scrollWidth, text: document.body.innerText, images: document.images.length,
    contrast: Math.min(...texts.map(contrast)), count: texts.length, dark: matchMedia("(prefers-color-scheme: dark)").matches,
    ground: getComputedStyle(document.body).backgroundColor, state: document.getElementById("state").textContent,
    reach: [...document.querySelectorAll("[role=region]")].every((one) => one.tabIndex === 0 && one.getAttribute("aria-label")),
    tiles: new Set([...document.querySelectorAll("dl div")].map((one) => one.getBoundingClientRect().left)).size,
    heads: [...document.querySelectorAll("th")].every((one) => one.scope === "col"), title: document.title });
})()"""


class Browser:
    """One page of a Chromium."""

    def __init__(self, program, folder):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def hand_over():
            fed.die_with_parent()
            # 3 and 4 may be among the four: through numbers that are not.
            os.dup2(to_browser, 10)
            os.dup2(from_browser, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        # pylint: disable=subprocess-popen-preexec-fn
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={folder / 'profile'}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hand_over, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.complaints = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def take(self):
        while b"\0" not in self.buffer:
            more = os.read(self.read_end, 1 << 16)
            expect(more, "the browser ended")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            said = self.take()
            if said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"):
                self.complaints.append(said["params"])
            if said.get("id") == self.number:
                expect("error" not in said, f"{method}: {said}")
                return said["result"]

    def show(self, address, width, theme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.call("Page.navigate", url=address)
        return fed.wait_until(lambda: self.live("Live"), f"{address} is live")

    def look(self):
        return json.loads(self.call("Runtime.evaluate", expression=LOOK)["result"].get("value") or "{}")

    def live(self, word):
        """What the page shows, once its state begins with this word."""
        time.sleep(0.1)
        with contextlib.suppress(ValueError):
            seen = self.look()
            if seen.get("state", "").startswith(word):
                return seen
        return None

    def end(self):
        self.process.kill()
        self.process.wait()


def judge(seen, width, theme, words):
    expect(seen["width"] == width and seen["dark"] == (theme == "dark"), f"was not shown as asked: {seen}")
    expect(seen["wide"] <= width, f"{seen['wide']} px wide at {width}")
    expect(seen["tiles"] > 1, f"a figure a line at {width} px: twenty of them are four screens of a telephone")
    expect(seen["contrast"] >= 4.5 and seen["count"] > 20, f"contrast {seen['contrast']:.2f} of {seen['count']} texts, {theme}")
    expect(seen["images"] == 0 and NAME in seen["text"] and seen["title"].endswith(NAME), "the job is not named, or there is a picture")
    expect(seen["reach"] and seen["heads"], "a table that keys or a screen reader do not reach")
    for word in words:
        expect(word in seen["text"], f"does not show {word}: {seen['text']}")


# What the ledger's drawing shows: its series, how many colours its middle column of pixels has, what a screen reader says.
DRAWING = """(() => {
  const canvas = document.getElementById("spending");
  const column = canvas.getContext("2d").getImageData(Math.floor(canvas.width / 2), 0, 1, canvas.height).data;
  const colours = new Set();
  for (let i = 0; i < column.length; i += 4) colours.add(column.slice(i, i + 4).join());
  return JSON.stringify({ labels: Chart.getChart(canvas).data.datasets.map((one) => one.label), colours: colours.size,
    said: canvas.getAttribute("aria-label"), charts: Object.keys(Chart.instances).length });
})()"""


def drawn(browser, job):
    seen = json.loads(browser.call("Runtime.evaluate", expression=DRAWING)["result"]["value"])
    expect(seen["labels"] == [job, "policy's limit"] and seen["colours"] > 3 and seen["charts"] == 1, f"the drawing: {seen}")
    expect("Used up: epsilon" in seen["said"] and job in seen["said"], f"a screen reader says {seen['said']}")


def pages(make, programs, browser_program):
    job = fed.job_text(minimum=2, fits=40, rounds=2).replace("job: trial", f"job: '{NAME}'")
    federation = make(programs, agents=2, job=job, policy=fed.policy_text(answer_slot_ms=3000),
                      agent_settings='http: {listen: "127.0.0.1:0"}\n')
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
    coordinator = federation.start_coordinator()
    for name in federation.names:
        federation.start_agent(name)
    federation.wait_event("coordinator", "round-closed")
    browser = Browser(browser_program, federation.folder)
    try:
        grounds = set()
        for name, words in (("coordinator", ("Rounds closed", "Epsilon spent", "site-1", "site-2", "Latest rounds", "fit")),
                            ("site-1", ("Budget", "epsilon left", "What left this site", "pure epsilon", "Coordinator is heard", "Data dictionary",
                                        "No job waits for a person", "running"))):
            address = "http://%s:%d/" % port_of(federation, name)
            for theme in THEMES:
                for width in WIDTHS:
                    seen = browser.show(address, width, theme)
                    judge(seen, width, theme, words)
                    if name == "site-1":
                        drawn(browser, NAME)
                    grounds.add((theme, seen["ground"]))
        expect(len(grounds) == 2, f"light and dark have one ground each: {grounds}")
        expect(not browser.complaints, f"the browser complains: {browser.complaints}")
        # Planted: the checks notice these faults.
        browser.call("Runtime.evaluate", expression="document.querySelector('footer p').innerHTML = '<nobr>' + 'planted '.repeat(200)")
        must_fail("a line without a break", judge, browser.look(), width, theme, words)
        browser.show(address, width, theme)
        browser.call("Runtime.evaluate", expression="document.querySelector('h1').style.color = '#777'")
        must_fail("a faint title", judge, browser.look(), width, "dark", words)
        # A program that stands still is told from one that lives, and the page finds it again.
        address = "http://%s:%d/" % port_of(federation, "coordinator")
        browser.show(address, 1280, "light")
        coordinator.signal(signal.SIGSTOP)
        fed.wait_until(lambda: browser.live("The program does not answer"), "the page says that it is old")
        coordinator.signal(signal.SIGCONT)
        fed.wait_until(lambda: browser.live("Live"), "the page is live again")
    finally:
        browser.end()


# What the page says of jobs: its title, the sentence, which button is pressed, and what is drawn.
JOBS = """(() => JSON.stringify({ title: document.title, summary: document.getElementById("summary").textContent,
  pressed: [...document.querySelectorAll("button[aria-pressed=true]")].map((one) => one.getAttribute("data-job")),
  buttons: [...document.querySelectorAll("button[data-job]")].map((one) => one.getAttribute("aria-label")),
  rows: [...document.querySelectorAll("#jobs tbody tr")].map((one) => one.innerText), play: !document.getElementById("play").hidden,
  focus: document.activeElement.getAttribute("data-job"), noise: document.getElementById("noise").innerText }))()"""


def told_of(browser, job, waits):
    """What the page says once it is of this job."""
    seen = json.loads(value(browser, JOBS))
    fine = seen["title"].endswith(": " + job) and ("waits for" in seen["summary"]) == waits
    return seen if fine else None


def a_reader_picks_a_job(make, programs, browser_program):
    """Two jobs run, and the one of the lower number waits for an agent. The page lists both, and draws the one that has rounds. A
    person can pick the other one by mouse or by keys. The choice lasts until that job ends."""
    with fed.temporary_folder() as folder:
        keys = fed.make_keys(programs, folder / "keys", lanes.AGENTS + 1)
        office = lanes.make_office(make, programs, keys, more='http: {listen: "127.0.0.1:0"}\n', slot_ms=2500)
    office.submit("east", lanes.text_of("east").replace("minimum: 2", "minimum: 3").replace("site-4]", "site-4, nobody]"))
    office.submit("west", lanes.text_of("west", 60).replace("rounds: 2", "rounds: 3"))
    office.start()
    for site in office.federation.names:
        office.federation.start_agent(site)
    browser = Browser(browser_program, office.federation.folder)
    try:
        address = "http://%s:%d/" % port_of(office.federation, "coordinator")
        browser.show(address, 1280, "light")
        seen = fed.wait_until(lambda: told_of(browser, "west", False), "the page is of the job that has rounds")
        expect(seen["pressed"] == ["2"] and seen["buttons"] == ["shown: job 2, west", "show: job 1, east"], f"the list: {seen}")
        fed.wait_until(lambda: "waits for approval: 2 of 3 ready" in json.loads(value(browser, JOBS))["rows"][1]
                       or "waits for agents: 2 of 3 ready" in json.loads(value(browser, JOBS))["rows"][1], f"the job that waits says so: {seen}")
        expect("2 jobs run; this is job 2." in seen["summary"], f"the sentence: {seen['summary']}")
        click(browser, "button[data-job='1']")
        seen = fed.wait_until(lambda: told_of(browser, "east", True), "the page is of the job that was picked")
        expect(seen["pressed"] == ["1"], f"the list: {seen}")
        rounds = seen["rows"][0]
        seen = fed.wait_until(lambda: json.loads(value(browser, JOBS))["rows"][0] != rounds and told_of(browser, "east", True),
                              "the list goes on beside the job that was picked")
        for theme in THEMES:
            for width in (390, 1280):
                seen = browser.show(address, width, theme)
                fed.wait_until(lambda: told_of(browser, "west", False), "a page that is loaded anew has nothing picked")
                expect(browser.look()["wide"] <= width and browser.look()["contrast"] >= 4.5, f"{width} px, {theme}: {browser.look()}")
                if "HEDGEROW_SHOTS" in os.environ:
                    shoot(browser, os.environ["HEDGEROW_SHOTS"], width, theme)
        value(browser, "document.querySelector(\"button[data-job='1']\").focus()")
        for what in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=what, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r" if what == "keyDown" else "")
        seen = fed.wait_until(lambda: told_of(browser, "east", True), "the page is of the job that was picked by keys")
        expect(seen["focus"] == "1", f"the focus is lost: {seen}")
        office.command("cancel", office.number["east"])
        fed.wait_until(lambda: told_of(browser, "west", False), "the page is back once the picked job has ended")
        complaints = [one for one in browser.complaints if "404" not in json.dumps(one)]  # asked for at the very end of the job
        expect(not complaints, f"the browser complains: {complaints}")
    finally:
        browser.end()


NOISE = """JSON.stringify([...document.querySelectorAll("#noise tr")].map((one) => [...one.children].map((cell) => cell.textContent)))"""
ASKED = """  - {task: query, queries: ["count: age >= 50", "mean: dose"], batch: 10, share: 0.2, grid_bits: 10}
  - {task: fit, loss: logistic, lambdas: [3, 4, 5], share: 0.1, experts: {own: true, shifts: [0.5]}, tolerance: 0.001, grid_bits: 16}
"""  # the last stage has slots, so that there is time to read the page


def the_signal_stands_beside_its_noise(make, programs, browser_program):
    """What a losses stage released in its latest round, as result.json has it. Of all else the page says where it will be."""
    job = fed.job_text(minimum=1, fits=2, rounds=2)
    federation = make(programs, agents=1, job=job.replace("share: 0.5", "share: 0.3") + ASKED,
                      policy=fed.policy_text(tasks="[fit, losses, query]", answer_slot_ms=3000))
    settings = federation.office / "coordinator.yml"
    settings.write_text(settings.read_text() + 'http: {listen: "127.0.0.1:0"}\n')
    coordinator = federation.start_coordinator()
    browser = Browser(browser_program, federation.folder)
    try:
        browser.show("http://%s:%d/" % port_of(federation, "coordinator"), 1280, "light")
        expect({row[2] for row in fed.wait_until(lambda: table_of(browser), "the noise")} == {"not yet", "in the results"}, "a signal before a release")
        federation.start_agent("site-1")
        rows = fed.wait_until(lambda: [row for row in table_of(browser) if " to " in row[2]] and table_of(browser), "the losses stand beside their noise")
        expect(coordinator.wait() == 0, "the coordinator does not end well")
        result = federation.result()
        losses = [loss for loss in [one["losses"] for one in result["rounds"] if one["losses"]][-1] if loss is not None]
        said = [row for row in rows if row[4] == "loss"]
        expect(len(said) == 1, f"losses: {rows}")
        low, high = map(float, said[0][2].split(" to "))
        expect(abs(low - min(losses)) <= 0.006 * abs(low) and abs(high - max(losses)) <= 0.006 * abs(high), f"{said}, {losses}")
        expect({row[2] for row in rows if row[4] != "loss"} == {"in the results"}, f"what is not a loss: {rows}")
        expect(not browser.complaints, f"the browser complains: {browser.complaints}")
    finally:
        browser.end()


def table_of(browser):
    """The rows of the noise: stage, what is released, signal, noise, unit, kind."""
    rows = [row for row in json.loads(value(browser, NOISE)) if len(row) == 6]
    return [row for row in rows if row[0] != "stage"]


def shoot(browser, folder, width, theme):
    """For a person's look: the page as a picture."""
    picture = browser.call("Page.captureScreenshot", format="png")["data"]
    with open(os.path.join(folder, f"coordinator-{width}-{theme}.png"), "wb") as file:
        file.write(base64.b64decode(picture))


def axe_finds_nothing(browser, axe):
    """axe-core's findings on the page as it is."""
    value(browser, axe)
    found = json.loads(value(browser, """axe.run(document).then((all) => JSON.stringify({ passes: all.passes.length,
      violations: all.violations.map((one) => [one.id, one.help, one.nodes.map((node) => node.html.slice(0, 200))]) }))"""))
    expect(found["passes"] > 15, f"axe-core looked at nothing: {found}")
    expect(found["violations"] == [], f"axe-core finds {json.dumps(found['violations'], indent=1)}")


def accessible(make, programs, browser_program, axe_path):
    """Both pages by axe-core, light and dark, narrow and wide, with a job that waits and with the question open."""
    with open(axe_path, encoding="utf-8") as file:
        axe = file.read()
    federation = site_page.with_queue(make, programs, http=site_page.APPROVE)
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    for name in ("first", "second"):
        site_page.submit(federation, name)
        site_page.wait_state(place, name, "waiting")
        if name == "first":
            site_page.agent(federation, "approve", "--yes")
            site_page.wait_state(place, name, "done")
    browser = Browser(browser_program, federation.folder)
    try:
        for name in ("coordinator", "site-1"):
            for theme, width in (("light", 360), ("dark", 1280), ("light", 3840)):
                browser.show("http://%s:%d/" % port_of(federation, name), width, theme)
                value(browser, "document.querySelectorAll('section[hidden]').forEach((one) => { one.hidden = false; })")  # the drawings' frame
                axe_finds_nothing(browser, axe)
        browser.call("Page.navigate", url="http://%s:%d/#%s" % (*place, site_page.ticket(federation, place)))
        click(browser, ".job button[aria-label='Reject second']")
        axe_finds_nothing(browser, axe)
        value(browser, "document.getElementById('ask').close(); document.documentElement.removeAttribute('lang')")
        fed.must_fail("a page without a language", axe_finds_nothing, browser, axe)
    finally:
        browser.end()


def value(browser, expression):
    return browser.call("Runtime.evaluate", expression=expression, awaitPromise=True)["result"].get("value")


def click(browser, selector):
    """With a mouse, as a person: the element must be there to be hit."""
    place = fed.wait_until(lambda: value(browser, f"""(() => {{ const one = document.querySelector({json.dumps(selector)});
      if (!one) return null; one.scrollIntoView({{ block: "center" }}); const box = one.getBoundingClientRect();
      return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2]); }})()"""), f"{selector} is not on the page")
    x, y = json.loads(place)
    for what in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)


def a_person_decides(make, programs, browser_program):
    """A link of `hedgerow-agent page`, an approval and a rejection by mouse, from submission to result."""
    federation = site_page.with_queue(make, programs, http=site_page.APPROVE)
    federation.start_agent("site-1")
    place = port_of(federation, "site-1")
    browser = Browser(browser_program, federation.folder)
    try:
        site_page.submit(federation, "first")
        site_page.wait_state(place, "first", "waiting")
        address = "http://%s:%d/" % place
        seen = browser.show(address, 1280, "light")
        expect("run hedgerow-agent page" in seen["text"] and value(browser, "document.querySelectorAll('.job button').length") == 0,
               "decides without a ticket")
        browser.call("Page.navigate", url=address + "#" + site_page.ticket(federation, place))
        fed.wait_until(lambda: value(browser, "document.querySelectorAll('.job button').length") == 2, "no buttons")
        expect(value(browser, "location.hash") == "" and value(browser, "document.cookie") == "", "the ticket stays in the address")
        click(browser, ".job button[aria-label='Approve first']")
        expect(value(browser, "document.getElementById('ask').open"), "nobody is asked once more")
        expect("epsilon 1" in value(browser, "document.getElementById('ask-text').textContent"), "the price is not said")
        for width in WIDTHS:
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            fed.wait_until(lambda width=width: browser.look()["wide"] <= width, f"the question is too wide at {width}", 10)  # the drawing follows
        click(browser, "#ask-yes")
        site_page.wait_state(place, "first", "done")
        fed.wait_until(lambda: "done" in browser.look()["text"] and not value(browser, "document.getElementById('ask').open"), "the page does not say so")
        site_page.submit(federation, "second")
        click(browser, ".job button[aria-label='Reject second']")
        value(browser, "document.getElementById('ask-why').focus()")
        browser.call("Input.insertText", text="nicht für 5 €")
        click(browser, "#ask-yes")
        site_page.wait_state(place, "second", "rejected")
        expect(site_page.approvals(federation)[-1].endswith(" 0 nicht für 5 €"), f"{site_page.approvals(federation)}")
        expect(not browser.complaints, f"the browser complains: {browser.complaints}")
    finally:
        browser.end()


def main():
    options = fed.options(axe=(0, "1: what axe-core finds, and nothing else"))
    browser = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if browser is None:
        print("skipped: no chromium on PATH (scripts/install pages): the pages are not opened")
        return SKIPPED
    given = {"programs": options.programs, "browser_program": browser}
    cases = (pages, a_reader_picks_a_job, the_signal_stands_beside_its_noise, a_person_decides)
    if options.axe:
        given["axe_path"] = os.environ.get("HEDGEROW_AXE", "")
        cases = (accessible,)
        if given["axe_path"] == "":
            print("skipped: HEDGEROW_AXE names no axe.min.js that `npm ci` brought by tests/npm (scripts/test does): axe-core looks at no page")
            return SKIPPED
    return fed.run_cases([(case.__name__, case, given) for case in cases if options.only in case.__name__], at_once=1)


if __name__ == "__main__":
    sys.exit(main())
