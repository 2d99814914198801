"use strict";

// The page shows every family of /api/status: figures without labels as cards, the others as tables. Nothing of what comes
// is ever taken for markup. A site's page asks for it every two seconds; a coordinator's listens to its events.

const PERIOD_MS = 2000;
const SILENT_MS = 12000; // a program that lives says something every five seconds

// Where a name's own words would not do.
const TITLES = {
  agent_info: "Agents",
  agents: "Agents by state",
  agents_needed: "Agents a round needs",
  agents_ready: "Agents that are ready",
  answers_total: "Answers charged",
  connected: "Coordinator is heard",
  fetch_waiting_agents: "Agents that wait for pieces",
  fetch_waiting_bytes: "Bytes on their way to agents",
  fetches_held_total: "Pieces that had to wait",
  fetches_not_taken_total: "Agents cut for not taking pieces",
  fetches_repeated_total: "Pieces asked for again while they waited",
  job_failed: "Job has failed",
  job_left_seconds: "Time left, at the pace so far",
  last_release_timestamp_seconds: "Latest release",
  last_round_agents: "Agents in the latest round",
  last_round_seconds: "Latest round took",
  latest_answers: "What left this site",
  message_bytes_total: "Bytes of messages",
  round_seconds_total: "All rounds took",
  stage_info: "Stage",
  start_timestamp_seconds: "Program started",
};
const ANSWERED_BY_YES_OR_NO = ["job_failed", "connected"];
// Shown in the title, or beside another figure.
const ELSEWHERE = ["build_info", "job_info", "rounds_planned", "epsilon_planned", "delta_planned"];
// Of the program and not of what it works at: at a coordinator they stand below the results.
const BELOW = ["fetch_waiting_agents", "fetch_waiting_bytes", "fetches_held_total", "fetches_not_taken_total", "fetches_repeated_total", "journal_bytes",
  "round_seconds_total", "start_timestamp_seconds"];
// The site's page has a script of its own beside this one, and shows what left by itself.
const SITE = typeof showSite === "function";
const LIVE = typeof showLive === "function";
if (SITE) ELSEWHERE.push("latest_answers");
if (LIVE) ELSEWHERE.push("results", "queue");

// Families with the same label that belong into one table.
const JOINED = [
  { title: "Budget", parts: ["epsilon_spent", "epsilon_limit", "epsilon_left", "delta_spent", "delta_limit", "delta_left"], label: "allowance",
    note: "What the policy grants, and what the charges have spent of it: in total, and of any allowance_days" },
  { title: "Charges of the latest jobs", parts: ["job_epsilon_spent", "job_epsilon_left"], label: "id",
    note: "What each of the latest jobs was charged, and what is left of the policy's job_epsilon" },
];

function words(name) {
  if (TITLES[name]) return TITLES[name];
  const text = name.replace(/_total$/, "").replace(/_(seconds|bytes)$/, "").replace(/_info$/, "").replace(/_timestamp$/, "").replace(/_/g, " ");
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
  if (ANSWERED_BY_YES_OR_NO.includes(name)) return value === 1 ? "yes" : "no";
  if (/_timestamp_seconds$/.test(name)) return ago(value);
  if (name === "job_left_seconds" && value >= 120) return Math.round(value / 60) + " min";
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

function card(name, text, help) {
  const made = element("div");
  made.title = help;
  made.append(element("dt", words(name)), element("dd", text));
  return made;
}

// A figure, with what it is a part of where that is known.
function numberCard(name, value, help, facts) {
  const whole = { rounds_closed_total: "rounds_planned", epsilon_spent: "epsilon_planned", delta_spent: "delta_planned" }[name];
  const most = whole === undefined ? null : facts[whole];
  const made = card(name, figure(name, value), help);
  const shown = made.querySelector("dd");
  if (/_timestamp_seconds$/.test(name)) made.title += ": " + new Date(value * 1000).toLocaleString();
  if (typeof most === "number" && most > 0) {
    shown.textContent += " of " + figure(name, most);
    if (value !== null) shown.append(bar(value, most, words(name)));
  }
  return made;
}

function section(title, note, head, lines) {
  const made = element("section");
  const wide = Object.assign(element("div"), { className: "wide", tabIndex: 0 });
  const grid = element("table");
  const top = element("tr");
  wide.setAttribute("role", "region");
  wide.setAttribute("aria-label", title);
  for (const text of head) top.append(Object.assign(element("th", text), { scope: "col" }));
  grid.append(element("thead"), element("tbody"));
  grid.tHead.append(top);
  for (const cells of lines) {
    const line = element("tr");
    for (const cell of cells) {
      const one = element("td");
      one.append(cell);
      if (/^-?[0-9.]+( [a-zA-Z]{1,2})?$/.test(cell)) one.className = "number";
      line.append(one);
    }
    grid.tBodies[0].append(line);
  }
  wide.append(grid);
  made.append(element("h2", title), Object.assign(element("p", note + "."), { className: "note" }), wide);
  return made;
}

function table(name, rows, help) {
  const labels = Object.keys(rows[0]);
  const shown = name === "agents" ? rows.filter((row) => row.value > 0) : rows;
  return section(words(name), help, labels.map((label) => (label === "value" ? words(name).toLowerCase() : label)),
    shown.map((row) => labels.map((label) => (label === "value" ? figure(name, row.value) : row[label]))));
}

function joined(join, facts) {
  const parts = join.parts.filter((part) => (facts[part] || []).some((row) => !part.startsWith("delta") || row.value !== 0));
  const bounded = join.label === "allowance";
  const lines = facts[parts[0]].map((row) => {
    const values = parts.map((part) => facts[part].find((other) => other[join.label] === row[join.label]));
    const cells = values.map((found) => (found === undefined ? "" : figure("", found.value)));
    if (bounded && values[1]) cells.push(values[0].value === null ? "" : bar(values[0].value, values[1].value, "Epsilon spent, " + row.allowance));
    return [row[join.label], ...cells];
  });
  const names = parts.map((part) => part.replace(/^job_/, "").replace(/_/g, " "));
  return section(join.title, join.note, [join.label, ...names, ...(bounded ? ["spent"] : [])], lines);
}

// What a person has put the focus on, and how far a table was scrolled, outlives the change.
function keepFocus(host, change) {
  const regions = [...host.querySelectorAll("[role=region]")];
  const kept = new Map(regions.map((one) => [one.getAttribute("aria-label"), [one.scrollLeft, one === document.activeElement]]));
  change();
  for (const one of host.querySelectorAll("[role=region]")) {
    const [left, focus] = kept.get(one.getAttribute("aria-label")) || [0, false];
    one.scrollLeft = left;
    if (focus) one.focus({ preventScroll: true });
  }
}

function replace(host, parts) {
  keepFocus(host, () => host.replaceChildren(...parts));
}

let shownText = "";

// Of names of which one is present (1) and the others are not (0), the present one is shown.
function present(rows) {
  return "phase" in rows[0] ? rows.find((row) => row.value === 1).phase : null;
}

function show(status) {
  const { facts, help } = status;
  const cards = [];
  const below = [];
  const more = document.getElementById("more");
  const tables = [];
  const inJoins = JOINED.flatMap((join) => (Array.isArray(facts[join.parts[0]]) ? join.parts : []));
  for (const join of JOINED) {
    if (Array.isArray(facts[join.parts[0]]) && facts[join.parts[0]].length > 0) tables.push(joined(join, facts));
  }
  for (const [name, value] of Object.entries(facts)) {
    if (name === "job_failed" && value === 0 && facts.job_info.length === 0) continue; // of a job that is over, and did not
    if (ELSEWHERE.includes(name) || inJoins.includes(name) || (name === "delta_spent" && facts.delta_planned === 0)) continue;
    if (!Array.isArray(value)) {
      if (value !== null) (more !== null && BELOW.includes(name) ? below : cards).push(numberCard(name, value, help[name], facts));
    } else if (value.length > 0) {
      if (present(value) !== null) cards.push(card(name, present(value), help[name]));
      else if (name === "data_set_info") cards.push(card(name, value[0].data_set, help[name]));
      else if (name === "stage_info") cards.push(card(name, value[0].stage, help[name]));
      else tables.push(table(name, value, help[name]));
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
  if (more !== null) replace(more, below);
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

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) });
  if (!answer.ok) throw new Error("it answered " + answer.status);
  return answer.json();
}

async function look() {
  try {
    const [status, site] = await Promise.all([ask("/api/status"), ...(SITE ? [ask("/api/site")] : [])]);
    show(status);
    if (SITE) await showSite(site, status.facts);
    say("Live: this page asks again every two seconds.", false);
  } catch (problem) {
    say("The program does not answer. What is below is old.", true);
  }
  setTimeout(look, PERIOD_MS);
}

// Whatever ends the connection, a new one is tried: the page outlives the program.
function listen() {
  const source = new EventSource("/api/events");
  let watchdog = 0;
  const again = () => {
    clearTimeout(watchdog);
    source.close();
    say("The program does not answer. What is below is old.", true);
    setTimeout(listen, PERIOD_MS);
  };
  const heard = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(again, SILENT_MS);
  };
  heard();
  source.onerror = again;
  source.addEventListener("beat", heard);
  source.onmessage = (event) => {
    heard();
    hearTold(JSON.parse(event.data));
    say("Live: this page shows each round as it is released.", false);
  };
}

if (LIVE) listen();
else look();
