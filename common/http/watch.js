"use strict";

// The page shows every family of /api/status: figures without labels as cards, the others as tables. Nothing of what comes
// is ever taken for markup.

const PERIOD_MS = 2000;

function words(name) {
  const text = name.replace(/_total$/, "").replace(/_timestamp_seconds$/, "").replace(/_(seconds|bytes)$/, "").replace(/_info$/, "")
    .replace(/_/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ago(seconds) {
  const past = Math.max(0, Math.round(Date.now() / 1000 - seconds));
  if (past < 120) return past + " s ago";
  if (past < 7200) return Math.round(past / 60) + " min ago";
  if (past < 172800) return Math.round(past / 3600) + " h ago";
  return Math.round(past / 86400) + " days ago";
}

function bytes(value) {
  for (const [size, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (value >= size) return (value / size).toFixed(1) + " " + unit;
  }
  return value + " B";
}

function figure(name, value) {
  if (value === null) return "without bound";
  if (/_timestamp_seconds$/.test(name)) return new Date(value * 1000).toLocaleString() + " (" + ago(value) + ")";
  if (/_seconds(_total)?$/.test(name)) return value.toFixed(2) + " s";
  if (/bytes(_total)?$/.test(name)) return bytes(value);
  return String(Number(value.toPrecision(6)));
}

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function bar(value, most, label) {
  const made = element("progress");
  made.max = most;
  made.value = Math.min(value, most);
  made.setAttribute("aria-label", label);
  return made;
}

function card(name, value, help, facts) {
  const made = element("div");
  made.title = help;
  made.append(element("dt", words(name)));
  const shown = element("dd", figure(name, value));
  if (name === "rounds_closed_total" && facts.rounds_planned > 0) {
    shown.textContent = value + " of " + facts.rounds_planned;
    shown.append(bar(value, facts.rounds_planned, "Rounds closed"));
  }
  made.append(shown);
  return made;
}

// Of names of which one is present (1) and the others are not (0), the present one is shown.
function isState(rows, labels) {
  return labels.length === 1 && rows.length > 1 && rows.every((row) => row.value === 0 || row.value === 1) &&
    rows.reduce((sum, row) => sum + row.value, 0) === 1 && (labels[0] === "phase");
}

function table(name, rows, help) {
  const section = element("section");
  const labels = Object.keys(rows[0]);
  section.append(element("h2", words(name)));
  section.append(Object.assign(element("p", help + "."), { className: "note" }));
  const wide = Object.assign(element("div"), { className: "wide", tabIndex: 0 });
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", words(name));
  const made = element("table");
  const head = element("tr");
  for (const label of labels) {
    head.append(Object.assign(element("th", label === "value" ? "" : label.replace(/_/g, " ")), { scope: "col" }));
  }
  if (labels.includes("value")) head.lastChild.textContent = words(name).toLowerCase();
  made.append(element("thead"), element("tbody"));
  made.tHead.append(head);
  for (const row of rows) {
    const line = element("tr");
    for (const label of labels) {
      const cell = element("td", label === "value" ? figure(name, row.value) : row[label]);
      if (label === "value" || /^-?[0-9.]+$/.test(row[label])) cell.className = "number";
      line.append(cell);
    }
    made.tBodies[0].append(line);
  }
  wide.append(made);
  section.append(wide);
  return section;
}

// What a person has put the focus on, and how far a table was scrolled, outlives the change.
function replace(host, parts) {
  const regions = [...host.querySelectorAll("[role=region]")];
  const kept = new Map(regions.map((one) => [one.getAttribute("aria-label"), [one.scrollLeft, one === document.activeElement]]));
  host.replaceChildren(...parts);
  for (const one of host.querySelectorAll("[role=region]")) {
    const [left, focus] = kept.get(one.getAttribute("aria-label")) || [0, false];
    one.scrollLeft = left;
    if (focus) one.focus({ preventScroll: true });
  }
}

let shownText = "";

function show(status) {
  const facts = status.facts;
  const cards = [];
  const tables = [];
  for (const [name, value] of Object.entries(facts)) {
    if (name === "build_info" || name === "job_info" || name === "rounds_planned") continue;
    if (!Array.isArray(value)) {
      if (value !== null || /_left$/.test(name)) cards.push(card(name, value, status.help[name], facts));
    } else if (value.length > 0) {
      const labels = Object.keys(value[0]).filter((label) => label !== "value");
      if (isState(value, labels)) {
        const made = card(name, 0, status.help[name], facts);
        made.querySelector("dd").textContent = value.find((row) => row.value === 1)[labels[0]];
        cards.unshift(made);
      } else {
        tables.push(table(name, value, status.help[name]));
      }
    }
  }
  const build = facts.build_info[0];
  const job = facts.job_info.length > 0 ? facts.job_info[0].job : "";
  const title = build.program + (job !== "" ? ": " + job : "");
  if (document.title !== title) {
    document.title = title;
    document.getElementById("title").textContent = title;
  }
  replace(document.getElementById("figures"), cards);
  replace(document.getElementById("tables"), tables);
}

// A screen reader hears a change of this line, not every look.
function say(text, lost) {
  if (text === shownText) return;
  shownText = text;
  const state = document.getElementById("state");
  state.textContent = text;
  state.className = lost ? "lost" : "";
}

async function look() {
  try {
    const answer = await fetch("/api/status", { cache: "no-store", signal: AbortSignal.timeout(10000) });
    if (!answer.ok) throw new Error("it answered " + answer.status);
    show(await answer.json());
    say("Live: this page asks again every two seconds.", false);
  } catch (problem) {
    say("The program does not answer. What is below is old.", true);
  }
  setTimeout(look, PERIOD_MS);
}

look();
