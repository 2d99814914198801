#!/usr/bin/env python3
"""The report page in a browser: at 360 to 1280 px, light and dark, with all its parts unfolded, nothing exceeds the width of the
page or of its card, no words of an axis touch, every chart is drawn, and letters in curves can be read. Each copy of a Table 1
tells its price. Skipped (77) where there is no Chromium; --screenshots DIR keeps pictures to look at.

    test_page.py PROGRAMS SOURCE [--screenshots DIR]
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = [360, 768, 900, 1280]
HEIGHT = 900
# prefers-color-scheme, as Blink's settings count it.
THEMES = {"dark": 0, "light": 1}
SKIPPED = 77
LETTERS_PX = 9
COPIES = 4  # Markdown, HTML, CSV, LaTeX

QUESTIONS = """hedgerow: 1
job: a-name-of-many-letters-that-has-no-place-to-be-broken-at
data:
  label: {column: death, positive: "1", negative: "0"}
  features:
    - {column: age, centre: 74, half_width: 24}
    - {column: sex, categories: [F, M]}
    - {column: kappa, transform: log1p, centre: 1.05, half_width: 0.9}
    - {column: creatinine, centre: 0.5, half_width: 0.5}
    - {column: futime, centre: 2625, half_width: 2625}
privacy: {unit: record, neighbours: replace_one, trust: local, epsilon: 8, delta: 0}
cohort: {minimum: 3, records: 1000, join_deadline_s: 60, deadline_s: 60}
stages:
  - task: query
    queries: ["count: age >= 96 and sex == F", "histogram: age by 5", "histogram: sex", "mean: kappa where age >= 60"]
    batch: 1000
    share: 0.5
  - {task: query, queries: ["quantile: 0.5 of kappa where sex == F in 3 rounds"], batch: 1000, share: 0.25}
  - {task: query, by_site: true, queries: ["crosstab: sex x death", "mean: age"], batch: 1000, share: 0.125}
  - {task: query, queries: ["evaluate: creatinine for death by sex, cut at 0.25"], batch: 1000, share: 0.0625}
  - {task: query, queries: ["evaluate: age for time futime event death by sex, to 4000"], batch: 1000, share: 0.0625}
"""

# Each report in a frame of each width. The frames have the page's own policy, and this page's origin.
WRAPPER = """<!DOCTYPE html><html><body><pre id="found">unfinished</pre><script>
const pages = %(pages)s, widths = %(widths)s, found = [];
const wait = (ms) => new Promise((then) => setTimeout(then, ms));

async function open(text, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border: 0; width: ${width}px; height: %(height)dpx`;
  const loaded = new Promise((then) => { frame.onload = then; });
  frame.srcdoc = text;
  document.body.append(frame);
  await loaded;
  for (const part of frame.contentDocument.querySelectorAll("details")) { part.open = true; }
  await wait(1000);
  return frame;
}

/* Cards with a part that stands beyond them and is not scrolled. */
function spilled(document) {
  const scrolled = (e, card) => e !== card && (getComputedStyle(e).overflowX !== "visible" || scrolled(e.parentElement, card));
  return [...document.querySelectorAll(".card")].filter((card) => [...card.querySelectorAll("*")].some((e) =>
    !e.closest("svg") && e.getBoundingClientRect().right > card.getBoundingClientRect().right + 0.5 && !scrolled(e.parentElement, card)))
    .map((card) => card.querySelector("h3").textContent);
}

/* Axes of forests whose words lie on each other. */
function touching(document) {
  return [...document.querySelectorAll(".forest .axis svg")].filter((svg) => {
    const words = [...svg.querySelectorAll("text")].map((t) => t.getBoundingClientRect()).filter((r) => r.width > 0).sort((a, b) => a.left - b.left);
    return words.some((r, i) => i > 0 && r.left < words[i - 1].right);
  }).length;
}

function measure(frame) {
  const inner = frame.contentWindow, root = frame.contentDocument.documentElement;
  const charts = [...frame.contentDocument.querySelectorAll("canvas")];
  const drawn = charts.filter((c) => c.width > 0 && c.getContext("2d")
    .getImageData(0, 0, c.width, c.height).data.some((v) => v !== 0));
  return {wide: root.scrollWidth, inner: inner.innerWidth, charts: charts.length, drawn: drawn.length,
          dark: inner.matchMedia("(prefers-color-scheme: dark)").matches,
          text: frame.contentDocument.body.innerText.length,
          letters: Math.min(...[...frame.contentDocument.querySelectorAll(".curves text")].map((t) => t.getBoundingClientRect().height)),
          spilled: spilled(frame.contentDocument), touching: touching(frame.contentDocument),
          copies: [...frame.contentDocument.querySelectorAll(".copies .copy")].map((copy) => copy.textContent)};
}

(async () => {
  for (const [name, text] of Object.entries(pages)) {
    for (const width of widths) {
      found.push({name, width, ...measure(await open(text, width))});
    }
  }
  document.getElementById("found").textContent = "found " + JSON.stringify(found) + " end";
})();
</script></body></html>
"""


def browse(browser, folder, *words):
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}", *words],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout


def measure(browser, folder, pages, theme):
    """What each frame shows: a list of dictionaries."""
    page = folder / "wrapper.html"
    page.write_text(WRAPPER % {"pages": json.dumps(pages).replace("</", "<\\/"), "widths": WIDTHS, "height": HEIGHT},
                    encoding="utf-8")
    said = browse(browser, folder, f"--blink-settings=preferredColorScheme={THEMES[theme]}", "--window-size=1400,1000",
                  "--virtual-time-budget=60000", "--dump-dom", page.as_uri())
    match = re.search(r"found (\[.*\]) end", said, re.S)
    if match is None:
        raise SystemExit(f"FAILED: the browser showed nothing: {said[-2000:]}")
    return json.loads(match.group(1))


def faults(found, theme):
    out = []
    for frame in found:
        where = f"{frame['name']} at {frame['width']} px, {theme}"
        if frame["inner"] != frame["width"] or frame["dark"] != (theme == "dark") or frame["text"] < 200:
            out.append(f"{where}: was not shown as asked: {frame}")
        if frame["wide"] > frame["inner"]:
            out.append(f"{where}: {frame['wide']} px wide")
        out += [f"{where}: a part stands beyond the card {card!r}" for card in frame["spilled"]]
        if frame["touching"] > 0:
            out.append(f"{where}: words of {frame['touching']} axes touch")
        if frame["drawn"] < frame["charts"]:
            out.append(f"{where}: {frame['drawn']} of {frame['charts']} charts are drawn")
        if frame["letters"] is not None and frame["letters"] < LETTERS_PX:
            out.append(f"{where}: letters of {frame['letters']} px in a drawing of curves")
        if frame["name"] == "study":
            priced = [copy for copy in frame["copies"] if "= 0.25, " in copy and re.search("\u03b4|delta", copy)]
            if len(priced) != COPIES:
                out.append(f"{where}: {len(priced)} of {COPIES} copies of Table 1 tell epsilon and delta")
    return out


def reports(programs, source, folder):
    """name: the page's text."""
    (folder / "questions.yml").write_text(QUESTIONS)
    data = source / "compose" / "hospitals" / "flchain.csv"
    jobs = {"hospitals": source / "compose" / "hospitals" / "job.yml", "questions": folder / "questions.yml",
            "study": source / "compose" / "survival" / "job.yml"}
    out = {}
    for name, job in jobs.items():
        subprocess.run([programs / "hedgerow", "simulate", job, "--data", data, "--out", folder / name, "--seed", "7"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out[name] = (folder / name / "report.html").read_text(encoding="utf-8")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if browser is None:
        print("skipped: no chromium on PATH (scripts/install pages): the page is not opened")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = reports(options.programs, options.source, folder)
        wide = pages["questions"].replace("<main", f"<nobr>{'planted ' * 200}</nobr><main", 1)
        found = []
        for theme in THEMES:
            shown = measure(browser, folder, {**pages, "planted": wide}, theme)
            found += faults([frame for frame in shown if frame["name"] != "planted"], theme)
            if not any("px wide" in fault for fault in faults([f for f in shown if f["name"] == "planted"], theme)):
                found.append(f"a planted line without a break was not found, {theme}")
            for name in pages if options.screenshots else []:
                for width in WIDTHS:
                    # The browser's own window is never narrower than 500 px: the page stands in a frame.
                    frame = folder / "frame.html"
                    frame.write_text(WRAPPER % {"pages": json.dumps({name: pages[name]}).replace("</", "<\\/"),
                                                "widths": [width], "height": 5000}, encoding="utf-8")
                    browse(browser, folder, f"--blink-settings=preferredColorScheme={THEMES[theme]}",
                           "--window-size=1400,5200", "--virtual-time-budget=60000",
                           f"--screenshot={options.screenshots.resolve() / f'{name}-{width}-{theme}.png'}", frame.as_uri())
    for fault in found:
        print(f"FAILED: {fault}")
    print(f"{len(pages)} pages at {WIDTHS} px, {', '.join(THEMES)}: {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
