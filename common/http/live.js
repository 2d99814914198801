/* What the coordinator's page draws while rounds go on: the report's own charts (charts.js), from what result.json will tell, of
 * the rounds that are shown. It stands beside watch.js, which listens and shows the figures; names in this file are its own. */
let result = null, experts = [], judged = [], chosenIndex = -1, lossNoise = NaN, drawnKey = "";

const CANDIDATES_SHOWN = 12;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const byId = (id) => document.getElementById(id);
const label = (id, text) => byId(id).setAttribute("aria-label", printable(text));

function span(seconds) {
  const units = [[86400, "days"], [3600, "hours"], [60, "minutes"]];
  const [size, unit] = units.find(([size]) => seconds >= 2 * size) || [1, "seconds"];
  return "about " + Math.round(seconds / size) + " " + unit;
}

function summaryOf(facts, shown) {
  const row = facts.queue.find((one) => one.number === String(shown));
  const run = facts.queue.filter((one) => one.state === "running").length;
  const of = run > 1 && row ? `${run} jobs run; this is job ${row.number}. ` : "";
  const aside = facts.queue.filter((one) => one.state === "set aside");
  return of + sentencesOf(facts) + (row && row.waits ? ` It waits ${row.waits}.` : "")
    + (aside.length === 0 ? "" : aside.length === 1 ? ` Job ${aside[0].number} is set aside: the list says why and what to do.`
      : ` ${aside.length} jobs are set aside: the list says why and what to do.`);
}

/* Why the latest job gave no result, while nothing else is told. */
function endOf(queue) {
  const row = queue.find((one) => one.state !== "waiting");
  return row === undefined || !["failed", "cancelled"].includes(row.state) ? ""
    : ` Job ${row.number}, "${row.job}", ${row.state === "failed" ? "has failed" : "was cancelled"}` + (row.because === "" ? "." : `: ${row.because}.`);
}

/* What a person wants to know first, in a sentence or two. */
function sentencesOf(facts) {
  const job = facts.job_info.length > 0 ? facts.job_info[0].job : null;
  if (job === null) return (facts.queue.some((row) => row.state === "waiting") ? "No job runs yet." : "No job runs, and none waits.") + endOf(facts.queue);
  const closed = facts.rounds_closed_total, planned = facts.rounds_planned, phase = window.present(facts.job_phase);
  let text = closed >= planned ? `All ${planned} rounds of "${job}" are released. `
    : facts.job_failed === 1 ? `"${job}" has failed after ${closed} of ${planned} rounds. `
    : `"${job}" is at round ${closed + 1} of ${planned} (${phase}). `;
  if (facts.job_left_seconds !== null && facts.job_left_seconds >= 1 && closed < planned) text += `At the pace so far, ${span(facts.job_left_seconds)} are left. `;
  return text + `So far each record has spent epsilon ${general(facts.epsilon_spent, 4)} of ${general(facts.epsilon_planned, 4)}.`;
}

function take(drawn) {
  result = drawn.result;
  experts = result.experts;
  chosenIndex = experts.findIndex((e) => e.name === result.chosen);
  judged = judgedOf(result);
  lossNoise = lossNoiseOf(result);
}

function candidates(latest) {
  const noise = known(lossNoise) ? " \u00b1 " + fixed(lossNoise, 3) : "";
  const order = experts.map((e, i) => i).sort((a, b) => (latest.weights ? latest.weights[b] - latest.weights[a] : a - b)).slice(0, CANDIDATES_SHOWN);
  return section("Candidates", "Those with the most weight after the latest round drawn. The noise of a loss is one standard deviation. Behind a weight: where it would be without the noise, about 95 %", ["candidate", "latest loss", "mean loss drawn", "weight"],
    order.map((i) => [experts[i].name + (i === chosenIndex ? " (chosen)" : ""), fixed(latest.losses[i], 3) + noise, fixed(judged[i].mean, 3),
      latest.weights ? weightText(latest.weights[i], experts[i]) : ""]));
}

function prepare() {
  palette(false);
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

function drawAll() {
  charts.forEach((chart) => chart.destroy());
  charts = [];
  prepare();
  losses("chart-losses");
  meanLosses("chart-mean-losses");
  weights("chart-weights");
  regret("chart-regret");
}

function tell(latest, rounds) {
  const name = chosenIndex >= 0 ? experts[chosenIndex].name : "none";
  const loss = chosenIndex >= 0 ? fixed(latest.losses[chosenIndex], 3) : "not known";
  byId("play-note").textContent = `The latest round drawn is ${latest.round + 1}. Chosen: ${name}, with a loss of ${loss}`
    + (known(lossNoise) ? `, noise of ${fixed(lossNoise, 3)} included. ` : ". ")
    + (known(latest.regret_average) ? `Regret ${fixed(latest.regret_average, 3)} a round, expected to be at most ${fixed(latest.regret_bound, 3)}. ` : "")
    + `Drawn: ${rounds.length} rounds, evenly spread over all.`;
  label("chart-losses", `Released loss of each candidate by round. ${byId("play-note").textContent}`);
  label("chart-weights", `Weight of each candidate by round. Chosen now: ${name}. The table of candidates has the figures.`);
  label("chart-mean-losses", "Mean released loss of each candidate. The table of candidates has the figures.");
  label("chart-regret", `Average regret beside its bound by round. ${byId("play-note").textContent}`);
}

function range(values, digits) {
  const low = Math.min(...values), high = Math.max(...values);
  return values.length === 0 ? "" : low === high ? general(low, digits) : general(low, digits) + " to " + general(high, digits);
}

/* What was released of the kind that a noise is added to: the losses of the latest round over all candidates, or what the latest
 * predict round answered. Weights of models and answers to questions are not kept for the page. */
function signalOf(release) {
  const rounds = result.rounds.filter((r) => Array.isArray(r.losses) && !r.failed);
  if (release.task === "predict" && result.answers.length > 0) return range(result.answers.map((a) => a.value), 3);
  if (release.unit !== "loss") return "in the results";
  return rounds.length === 0 ? "not yet" : range(rounds[rounds.length - 1].losses.filter(known), 3);
}

function noiseTable() {
  const rows = result.releases.map((r) => [(r.stage + 1) + " " + r.task, r.what, signalOf(r),
    known(r.noise) ? "\u00b1 " + general(r.noise, 3) : known(r.bar) ? "at most " + general(r.bar, 3) : "no answer", r.unit, r.mechanism]);
  return rows.length === 0 ? [] : section("Noise beside the signal", "What each stage releases, what came of it in the latest round, and the noise in that: one standard deviation. What is not a loss is in the results at the end",
    ["stage", "released", "signal", "noise", "in", "kind of noise"], rows).childNodes;
}

function resultLinks(facts) {
  if (facts.results.length === 0) return [];
  const jobs = new Map();
  for (const row of facts.results) jobs.set(row.number, [...(jobs.get(row.number) || []), row]);
  const items = [...jobs.values()].map((rows) => el("li", {}, "Job " + rows[0].number + ", " + rows[0].job + ": ",
    rows.map((row, i) => [i > 0 ? ", " : "", el("a", { href: `/results/${row.number}/${row.file}`, download: "" }, row.file)])));
  return [el("h2", {}, "Results"), el("p", { class: "note" }, "Files of the latest finished jobs. report.html opens in a browser, from where it was saved."),
    el("ul", {}, items)];
}

function showDrawn(drawn) {
  const rounds = drawn === null ? [] : drawn.result.rounds.filter((r) => Array.isArray(r.losses) && !r.failed);
  const key = JSON.stringify([drawn === null ? null : drawn.result, dark.matches, innerWidth]);
  if (key === drawnKey) return;
  drawnKey = key;
  if (drawn === null) {
    result = null;
  } else {
    take(drawn);
  }
  byId("play").hidden = rounds.length === 0;
  keepFocus(byId("noise"), () => byId("noise").replaceChildren(...(rounds.length === 0 ? [] : candidates(rounds[rounds.length - 1]).childNodes),
    ...(result === null ? [] : noiseTable())));
  if (rounds.length === 0) return;
  tell(rounds[rounds.length - 1], rounds);
  drawAll();
}

/* The jobs of the queue: each that runs can be picked. */
let shownJobs = "";
function showJobs(facts, shown) {
  const rows = facts.queue.map((row) => ({ ...row, left: row.left === "" ? "" : span(Number(row.left)) }));
  const key = JSON.stringify([rows, shown]);
  if (key === shownJobs) return; // a person may be about to click
  shownJobs = key;
  const host = byId("jobs");
  const focus = host.contains(document.activeElement) ? document.activeElement.getAttribute("data-job") : null;
  const button = (row) => {
    const is = row.number === String(shown), word = is ? "shown" : "show";
    return el("button", { type: "button", "data-job": row.number, "aria-pressed": String(is), "aria-label": printable(`${word}: job ${row.number}, ${row.job}`) }, word);
  };
  const lines = rows.map((row) => [row.state === "running" && shown !== null ? button(row) : "", row.number, row.job, row.state + (row.waits === "" ? "" : ", waits " + row.waits) + (row.because === "" ? "" : ": " + row.because),
    row.rounds, row.agents, row.left]);
  const made = rows.length === 0 ? [] : section("Jobs", "The latest jobs of the queue, the newest first. What is below is of the job that is shown",
    ["page", "number", "job", "state", "rounds released", "agents", "time left"], lines).childNodes;
  keepFocus(host, () => host.replaceChildren(...made));
  host.querySelectorAll("button").forEach((one) => {
    one.addEventListener("click", () => pick(Number(one.getAttribute("data-job"))));
    if (one.getAttribute("data-job") === focus) one.focus({ preventScroll: true });
  });
}

/* What the program draws by itself is of one job. Another one that a person picks is asked for whenever there are news, and not
 * more often than once a second. Once it has ended, the page is back at the one of the program. */
const ASK_MS = 1000;
let picked = null, lastTold = null, asks = false, asksAgain = false;

function pick(number) {
  picked = number;
  if (lastTold !== null) hearTold(lastTold);
}

function showTold(told) {
  show(told.status);
  showLive(told.status.facts, told.drawn, told.status.shown, told.forecasts);
}

async function askForPicked() {
  asksAgain = asks;
  if (asks) return;
  asks = true;
  const number = picked;
  try {
    const told = await ask("/api/jobs/" + number);
    if (picked === number) showTold(told);
  } catch (problem) {
    if (picked === number && /404/.test(problem.message)) { // it has just ended
      picked = null;
      showTold(lastTold);
    }
  }
  setTimeout(() => {
    asks = false;
    if (asksAgain && picked !== null) askForPicked();
  }, ASK_MS);
}

window.hearTold = function (told) {
  lastTold = told;
  if (picked !== null && !told.status.facts.queue.some((row) => row.state === "running" && row.number === String(picked))) picked = null;
  if (picked === null || picked === told.status.shown) showTold(told);
  else askForPicked();
};

let shownLinks = "";
function showLinks(facts) {
  const key = JSON.stringify(facts.results);
  if (key === shownLinks) return; // a person may be about to click
  shownLinks = key;
  byId("results").replaceChildren(...resultLinks(facts));
}

window.showLive = function (facts, drawn, shown = null, ahead = null) {
  const text = summaryOf(facts, shown);
  if (byId("summary").textContent !== text) byId("summary").textContent = text;
  showJobs(facts, facts.job_info.length > 0 ? shown : null);
  showLinks(facts);
  showDrawn(drawn);
  showAhead(drawn, drawn === null ? null : ahead);
};
