"use strict";

// The site's own page: what its ledger spent and when, the jobs with their plans, what left, what it says of its records. It
// stands beside watch.js, which asks the program and shows the figures.

const STATES = ["waiting", "running", "approved", "refused", "done", "over", "rejected"];
const JOBS_APART = 6; // that the drawing tells apart; the others are one
// Of about one lightness on the light ground and on the dark one.
const COLOURS = ["#3f8f5b", "#b7791f", "#6a78c9", "#c0567a", "#3d93a8", "#8a7a3a", "#8a8f8c"];

const epsilon = (value) => (value === null ? "without bound" : String(Number(value.toPrecision(6))));
const short = (digest) => digest.slice(0, 12);
const plural = (count, one) => count + " " + one + (count === 1 ? "" : "s");

function list(items) {
  const made = element("ul");
  for (const item of items) made.append(element("li", item));
  return made;
}

// Whoever came by a link of `hedgerow-agent page` has a session, whose secret is kept for this tab and this port alone.
let session = sessionStorage.getItem("session");
let trouble = "";

async function act(path, headers) {
  const answer = await fetch(path, { method: "POST", headers, cache: "no-store", signal: AbortSignal.timeout(10000) });
  return { code: answer.status, ...(await answer.json()) };
}

function endSession(why) {
  session = null;
  trouble = why;
  sessionStorage.removeItem("session");
}

// The ticket leaves the address before anything else happens: it is good once, and a link that is copied is of no use.
async function beginSession() {
  const ticket = location.hash.slice(1);
  if (!/^[0-9a-f]{64}$/.test(ticket)) return;
  history.replaceState(null, "", location.pathname);
  const answer = await act("/api/session", { "Hedgerow-Ticket": ticket });
  if (answer.code !== 200) {
    endSession(answer.why);
    return;
  }
  session = answer.session;
  trouble = "";
  sessionStorage.setItem("session", session);
}

const sessionBegun = beginSession().catch(() => { trouble = "The program did not answer: run hedgerow-agent page again."; });
addEventListener("hashchange", () => beginSession().catch(() => {}));

// Whether a text is the one that its digest names: what is shown is what is decided on.
const verified = new Map();
async function verify(jobs) {
  for (const job of jobs) {
    if (verified.has(job.digest) || job.text === undefined || !crypto.subtle) continue;
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(job.text)));
    verified.set(job.digest, [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("") === job.digest);
  }
}

function askPerson(job, budget, approves) {
  const one = (id) => document.getElementById("ask" + id);
  one("-title").textContent = (approves ? "Approve " : "Reject ") + job.name;
  one("-text").textContent = approves
    ? `One run of this text may cost epsilon ${epsilon(job.epsilon)} of the ${epsilon(budget.left)} that is left. The site answers at once, and what has left cannot be taken back.`
    : "This site declines this text whenever it is offered, until somebody approves it.";
  one("-why-line").hidden = approves;
  one("-why").value = "";
  one("-said").textContent = "";
  one("-yes").textContent = approves ? "Approve one run" : "Reject";
  one("-yes").disabled = false;
  one("-yes").onclick = async () => {
    one("-yes").disabled = true;
    try {
      const answer = await act("/api/decide", { "Hedgerow-Session": session, "Hedgerow-Digest": job.digest, "Hedgerow-Decision": approves ? "approve" : "reject",
        "Hedgerow-Runs-Before": String(job.runs_before), ...(approves ? {} : { "Hedgerow-Why": encodeURIComponent(one("-why").value) }) });
      if (answer.code === 200) one("").close();
      else one("-said").textContent = answer.why;
      if (answer.code === 401) endSession(answer.why);
    } catch (problem) {
      one("-said").textContent = "This was not sent: " + problem.message;
    }
    one("-yes").disabled = false;
  };
  one("-no").onclick = () => one("").close();
  one("").showModal();
}

function decisionButtons(job, budget) {
  const host = element("p");
  host.className = "buttons";
  if (verified.get(job.digest) !== true) {
    host.textContent = "This browser cannot see that the text above has this digest: decide with hedgerow-agent approve.";
    return host;
  }
  for (const approves of [true, false]) {
    const button = element("button", approves ? "Approve \u2026" : "Reject \u2026");
    button.type = "button";
    button.setAttribute("aria-label", (approves ? "Approve " : "Reject ") + job.name);
    button.disabled = approves && job.not_enough !== null;
    button.onclick = () => askPerson(job, budget, approves);
    host.append(button, " ");
  }
  return host;
}

// What one stage asks and releases.
function stageText(stage) {
  const made = element("li");
  made.append(element("p", `${stage.task}, ${stage.strategy}, with ${stage.mechanism} noise: `
    + `${plural(stage.charges, "charge")}, epsilon ${epsilon(stage.epsilon)} by itself.`));
  const lines = stage.releases.map((line) => {
    const number = (x) => Number(x.toPrecision(3));
    const size = line.noise !== null ? `\u00b1 ${number(line.noise)} ${line.unit}`
      : line.bar !== null ? `at most ${number(line.bar)} ${line.unit}` : "no answer";
    return `Released: ${line.what}, ${size}`;
  });
  made.append(list([...lines, ...stage.notes.map((note) => "Note: " + note)]));
  return made;
}

// A job that waits, as `hedgerow-agent approve` prints it: the price beside what is left first, then the plan, then the text.
function waitingCard(job, site) {
  const { budget } = site;
  const card = element("article");
  card.className = "job";
  card.dataset.digest = job.digest;
  card.append(element("h3", job.name));
  if (job.text === undefined) {
    card.append(element("p", "Its plan cannot be computed here. Read it with hedgerow-agent approve."));
    return card;
  }
  const price = element("p", `It may cost this site epsilon ${epsilon(job.epsilon)}`
    + (job.delta > 0 ? ` and delta ${job.delta}` : "") + `, for any one ${job.unit}. Left of the policy's total: epsilon ${epsilon(budget.left)}`
    + (job.not_enough === null ? "." : `. Not enough: ${job.not_enough}.`));
  price.className = "price";
  const part = bar(job.epsilon, Math.max(budget.left, 1e-9), `Price of ${job.name}, of what is left`);
  const asks = element("p", `It asks of this site, of ${job.records} records or more. The figures are for the fewest institutions that may answer (${job.agents}, this one included), each with as many records:`);
  const stages = element("ol");
  stages.append(...job.stages.map(stageText));
  const text = element("details");
  const pre = Object.assign(element("pre", job.text.replace(/[^\n -~]/g, "?")) /* it comes from elsewhere */, { tabIndex: 0 });
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", "Text of " + job.name);
  text.append(element("summary", "The job's text, which is what is decided on"), pre);
  const notes = [`Trust ${job.trust}: ${job.promise}`, ...job.notes.map((note) => "Note: " + note)];
  card.append(price, part, asks, stages, list(notes), text,
    Object.assign(element("p", `Digest ${job.digest}, run ${job.runs_before + 1} of this text here.`), { className: "note" }));
  if (site.approve && session !== null) card.append(decisionButtons(job, budget));
  return card;
}

// Cards of the same texts stay, with what a person has opened in them.
function showWaiting(site) {
  const host = document.getElementById("waiting");
  const key = JSON.stringify([site.waiting, site.unread, site.budget.left, site.approve, session !== null, trouble]);
  if (host.dataset.key === key) return;
  host.dataset.key = key;
  const open = new Set([...host.querySelectorAll("article")].filter((one) => one.querySelector("details[open]")).map((one) => one.dataset.digest));
  const cards = site.waiting.map((job) => waitingCard(job, site));
  for (const card of cards) {
    if (open.has(card.dataset.digest)) card.querySelector("details").open = true;
  }
  if (cards.length === 0) cards.push(element("p", "No job waits for a person."));
  if (site.unread > 0) cards.push(element("p", plural(site.unread, "text") + " cannot be read: hedgerow-agent approve names them."));
  if (site.approve && session === null) {
    cards.push(element("p", (trouble === "" ? "" : trouble + " ") + "To decide here, run hedgerow-agent page at this site and open the link that it prints."));
  }
  host.replaceChildren(...cards);
}

function showJobs(site) {
  const jobs = [...site.jobs].reverse().sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  const lines = jobs.map((job) => [job.state, job.job === "" ? "?" : job.job, epsilon(job.epsilon), epsilon(job.epsilon_paid),
    String(job.runs), String(job.answers), short(job.digest)]);
  const made = section("Jobs", "What this site has seen of the latest jobs, those that wait first: the price of a run, and what was paid",
    ["state", "job", "epsilon a run", "epsilon paid", "runs", "answers", "digest"], lines);
  document.getElementById("jobs").replaceChildren(...(lines.length === 0 ? [element("h2", "Jobs"), element("p", "None yet.")] : made.childNodes), ...refusedParts(site));
}

// Why nobody was asked about a job: a person who only looks here would wait for it.
function refusedParts(site) {
  if (site.refused.length === 0) return [];
  const lines = site.refused.map((job) => `${job.job === "" ? "A job whose text cannot be used" : job.job} (${short(job.digest)}, `
    + `${new Date(job.when * 1000).toLocaleString()}): ${job.why}`);
  const made = list(lines);
  made.id = "refused";
  return [element("h3", "Refused without asking a person"),
    Object.assign(element("p", "The policy, the data dictionary or the machine does not allow them, so nobody is asked, and nothing more is answered or paid. The table above says what was paid before."), { className: "note" }), made];
}

// Charges are rows of two tables: names of jobs come from the runs.
function showLeft(site, facts) {
  const names = new Map(site.runs.map((run) => [run.id, run.job]));
  const lines = facts.latest_answers.map((row) => [row.when, names.get(row.id) || row.id, row.round, row.task, row.epsilon, row.charge, row.bytes]);
  const made = section("What left this site", "The latest answers, the newest first. Each was charged before it left, and hedgerow-agent ledger lists them all. Epsilon used up is 0 for a round whose pass over the records was charged already",
    ["when", "job", "round", "task", "epsilon used up", "charge", "bytes"], lines);
  const host = document.getElementById("left");
  host.replaceChildren(...(lines.length === 0 ? [element("h2", "What left this site"), element("p", "Nothing yet.")] : made.childNodes));
}

function showDictionary(site) {
  const host = document.getElementById("dictionary");
  if (host.childNodes.length > 0) return; // it does not change while the program runs
  const range = (column) => (column.low === null && column.high === null ? "" : `${column.low ?? "\u2013"} to ${column.high ?? "\u2013"}`);
  const lines = site.dictionary.columns.map((column) => [column.name, column.kind,
    column.categories === null ? range(column) : column.categories.join(", "), column.unit]);
  host.replaceChildren(...section("Data dictionary", `What this site says of its records in public: ${site.dictionary.records} of them, and these columns`,
    ["column", "kind", "values", "unit"], lines).childNodes);
}

// Of each of the jobs that were charged most, and of the others together, what it was charged up to each point.
function series(site) {
  const names = new Map(site.runs.map((run) => [run.number, run.job || run.id]));
  const charged = new Map();
  let before = 0;
  for (const [, run, used] of site.spending) {
    charged.set(run, (charged.get(run) || 0) + (used - before));
    before = used;
  }
  const apart = [...charged.keys()].filter((run) => names.has(run)).sort((a, b) => charged.get(b) - charged.get(a)).slice(0, JOBS_APART).sort((a, b) => a - b);
  const labels = [...apart.map((run) => names.get(run)), "other jobs"];
  const totals = labels.map(() => 0);
  const lines = labels.map(() => []);
  before = 0;
  for (const [when, run, used] of site.spending) {
    const place = apart.indexOf(run);
    totals[place < 0 ? apart.length : place] += used - before;
    before = used;
    lines.forEach((line, i) => line.push({ x: when, y: totals[i] }));
  }
  const rows = labels.map((label, i) => ({ label, points: lines[i], total: totals[i], colour: COLOURS[i] }));
  return rows.filter((row) => row.total > 0);
}

let chart = null;
let drawn = "";

function chartOptions(span, limit, colour) {
  const [least, most] = span;
  const part = most - least < 600 ? { hour: "2-digit", minute: "2-digit", second: "2-digit" }
    : most - least < 172800 ? { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" } : { year: "numeric", month: "short", day: "numeric" };
  const day = (value) => new Date(value * 1000).toLocaleString([], part);
  const axis = (title, more) => ({ title: { display: true, text: title, color: colour("--soft") }, ticks: { color: colour("--soft"), ...more },
    grid: { color: colour("--line") } });
  return {
    animation: false, maintainAspectRatio: false, parsing: false, elements: { point: { radius: 0 } },
    plugins: { legend: { position: "bottom", labels: { color: colour("--ink") } },
      tooltip: { mode: "index", intersect: false, callbacks: { title: (items) => new Date(items[0].parsed.x * 1000).toLocaleString() } } },
    scales: {
      x: { type: "linear", min: least, max: most, ...axis("", { maxTicksLimit: 6, maxRotation: 0, callback: day }) },
      y: { stacked: true, min: 0, suggestedMax: limit * 1.05, ...axis("epsilon used up") },
    },
  };
}

function drawSpending(site) {
  const key = JSON.stringify([site.spending, site.budget, matchMedia("(prefers-color-scheme: dark)").matches]);
  if (key === drawn) return;
  drawn = key;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const rows = series(site);
  const now = Date.now() / 1000;
  const first = site.spending.length > 0 ? site.spending[0][0] : now - 3600;
  const last = Math.max(now, first + 1);
  const datasets = rows.map((row, i) => ({ label: row.label, data: [...row.points, { x: last, y: row.total }], stepped: true,
    fill: i === 0 ? "origin" : "-1", backgroundColor: row.colour + "b0", borderColor: row.colour, borderWidth: 1, stack: "used" }));
  datasets.push({ label: "policy's limit", data: [{ x: first, y: site.budget.limit }, { x: last, y: site.budget.limit }],
    borderColor: colour("--alarm"), borderDash: [6, 4], borderWidth: 2, fill: false, stack: "limit" });
  const canvas = document.getElementById("spending");
  canvas.setAttribute("aria-label", `Privacy budget over time. Used up: epsilon ${epsilon(site.budget.used)} of ${epsilon(site.budget.limit)}. `
    + rows.map((row) => `${row.label}: ${epsilon(row.total)}`).join("; "));
  if (chart !== null) chart.destroy();
  Chart.defaults.font.size = 0.75 * parseFloat(style.fontSize);
  chart = new Chart(canvas, { type: "line", data: { datasets }, options: chartOptions([first, last], site.budget.limit, colour) });
}

function showSummary(site) {
  const { budget } = site;
  let text = `Of the policy's epsilon ${epsilon(budget.limit)} for all time, ${epsilon(budget.used)} is used up and ${epsilon(budget.left)} is left. `;
  if (site.window !== null) {
    text += `Of the ${epsilon(site.window.limit)} for any ${plural(site.window_days, "day")}, ${epsilon(site.window.left)} is left. `;
  }
  text += site.waiting.length === 0 ? "No job waits for a person." : plural(site.waiting.length, "job") + (site.waiting.length === 1 ? " waits" : " wait") + " for a person.";
  const host = document.getElementById("summary");
  if (host.textContent !== text) host.textContent = text;
}

async function showSite(site, facts) {
  await sessionBegun;
  await verify(site.waiting);
  document.getElementById("readonly").hidden = site.approve;
  showSummary(site);
  showWaiting(site);
  drawSpending(site);
  keepFocus(document.getElementById("jobs"), () => showJobs(site));
  keepFocus(document.getElementById("left"), () => showLeft(site, facts));
  showDictionary(site);
}
