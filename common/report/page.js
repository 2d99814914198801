/* The report's facts, which its template names, and its tables. Their columns come with the data, from the rows of
 * result_fields.c that have a label: data.columns. charts.js draws; the tables have what the charts show. */
const data = JSON.parse(document.getElementById("data").textContent);
const result = data.result, columns = data.columns;
const experts = result.experts, baseline = result.baseline || {}, error = result.error || {};
const answers = result.answers, releases = result.releases;
/* Those of a table stand in it. */
const isPaired = (a) => !a.table && (a.figure === "correlation" || a.figure === "p-value");
const listed = answers.filter((a) => !a.table && !isPaired(a)), paired = answers.filter(isPaired);
const chosenIndex = experts.findIndex((e) => e.name === result.chosen);
const sum = (list) => list.reduce((s, v) => s + v, 0);
/* Not Math.max(...list): a call takes fewer arguments than there may be experts. */
const most = (list) => list.reduce((m, v) => Math.max(m, v), -Infinity);
const least = (list) => list.reduce((m, v) => Math.min(m, v), Infinity);

/* What one record pays for an answer, with all others of its stage, and for the whole job. round: the answer's; without it,
   or in a file of an older version, the stage is not known. */
function priceText(round) {
  const price = (p) => "\u03b5 = " + general(p.epsilon, 4) + ", \u03b4 = " + general(p.delta, 3);
  const at = result.rounds.find((r) => r.round === round), own = at && releases.find((r) => r.stage + 1 === at.stage_number);
  return (own && known(own.epsilon) ? price(own) + " for all answers of this stage; " : "") + price(result.privacy) + " for the whole job.";
}

const judged = judgedOf(result);
const lastWeights = result.rounds.map((r) => r.weights).filter((w) => w).pop() || [];
const lossNoise = lossNoiseOf(result);

function count(n) {
  return ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"][n] || String(n);
}
const upper = (text) => text[0].toUpperCase() + text.slice(1);
const orNone = (v, text) => known(v) ? text : "";

/* What the choice among candidates was worth. The simulator judges each on records that nobody learned from. */
function worth() {
  const own = experts[chosenIndex], accuracies = experts.map((e) => e.accuracy), n = experts.length;
  const facts = { worthAccuracy: false, worthLoss: false, chance: false, ownAccuracy: "", meanAccuracy: "", bestAccuracy: "",
    wasWorth: "", points: "", twoErrors: "", gain: "", lessOrMore: "", gainNoise: "" };
  if (!own) { return facts; }
  if (accuracies.every(known)) {
    const mean = sum(accuracies) / n;
    /* Of the figures as they are shown: a reader subtracts them. */
    const points = (Math.round(1000 * own.accuracy) - Math.round(1000 * mean)) / 10;
    Object.assign(facts, { worthAccuracy: true, ownAccuracy: percent(own.accuracy), meanAccuracy: percent(mean),
      bestAccuracy: percent(most(accuracies)), wasWorth: points < 0 ? "lost" : "was worth",
      points: fixed(Math.abs(points), 1), twoErrors: fixed(200 * result.accuracy_error, 1),
      chance: known(result.accuracy_error) && Math.abs(points) < 200 * result.accuracy_error });
  }
  if (judged.every((j) => known(j.mean))) {
    const gain = sum(judged.map((j) => j.mean)) / n - judged[chosenIndex].mean;
    Object.assign(facts, { worthLoss: true, gain: fixed(Math.abs(gain), 4), lessOrMore: gain < 0 ? "more" : "less",
      gainNoise: orNone(lossNoise, fixed(lossNoise * Math.sqrt((1 - 1 / n) / judged[chosenIndex].rounds), 4)) });
  }
  return facts;
}

/* Why the weights stayed close together, if they did. */
function closeness() {
  const means = judged.map((j) => j.mean).filter(known), rounds = judged.length > 0 ? judged[judged.length - 1].rounds : 0;
  const spread = most(means) - least(means), noise = lossNoise / Math.sqrt(rounds);
  const close = lastWeights.length > 0 && most(lastWeights) - least(lastWeights) < 0.2 && known(lossNoise);
  return { close: close, lossSpread: fixed(spread, 3), lossError: fixed(noise, 3), alike: spread < 3 * noise };
}

/* What tables are about, by how their questions begin. */
const TITLES = [["table1", "Who was studied?"], ["evaluate", "How good is the score?"], ["regress", "What goes with what?"]];

/* A number that an exponential may make endless. */
function timesText(epsilon) {
  const times = Math.exp(epsilon);
  return Number.isFinite(times) ? general(times, 3) : "10^" + fixed(Math.ceil(epsilon / Math.LN10), 0);
}

function facts() {
  const privacy = result.privacy, said = result.rounds.filter((r) => r.said !== undefined).map((r) => r.said);
  const exact = answers.filter((a) => known(a.exact) && known(a.low) && known(a.high)), sites = privacy.per_agent.length;
  return Object.assign({
    job: result.job, version: result.version, unit: privacy.unit, trust: privacy.trust, private: result.private === true,
    seed: result.seed !== null, simulated: result.simulated, finished: result.finished,
    sent: privacy.sent || "", noise: privacy.noise || "",
    agents: count(sites), Agents: upper(count(sites)), s: sites === 1 ? "" : "s", sites: sites > 0,
    rounds: String(result.rounds.length), seconds: orNone(result.seconds, fixed(result.seconds, 1)),
    epsilon: orNone(privacy.epsilon, general(privacy.epsilon, 4)), epsilon3: general(privacy.epsilon, privacy.epsilon < 100 ? 3 : 6),
    times: timesText(privacy.epsilon), delta: privacy.delta > 0 ? general(privacy.delta, 3) : "",
    model: chosenIndex >= 0, chosen: result.chosen || "", experts: experts.length > 0 ? count(experts.length) : "",
    choice: chosenIndex >= 0 && experts.length > 1, questions: chosenIndex < 0 && (answers.length > 0 || said.length > 0),
    asked: answers.length > 0 || said.length > 0,
    answers: answers.length > 0, listed: listed.length > 0, paired: paired.length > 0, exactPairs: paired.some((a) => known(a.exact)),
    tables: answers.some((a) => a.table),
    tableTitle: TITLES.filter((t) => answers.some((a) => a.table && a.table.startsWith(t[0]))).map((t) => t[1]).join(" ") || "What goes with what?",
    barCount: String(answers.filter((a) => known(a.low) || known(a.interval_low)).length), answerCount: String(answers.length), answersS: answers.length === 1 ? "" : "s",
    exact: exact.length > 0 ? String(exact.length) : "",
    exactInside: String(exact.filter((a) => known(a.low) && known(a.high) && a.low <= a.exact && a.exact <= a.high).length),
    said: said.length > 0 ? said[said.length - 1] || " " : "", saidCount: String(said.length), saidOften: said.length > 1,
    losses: result.rounds.some((r) => r.losses), played: result.rounds.filter((r) => r.losses).length > 1, releases: releases.length > 0, forecasts: result.forecasts.length > 0,
    effects: result.effects.length > 0, curves: result.curves.some((p) => !p.curve), exactCurves: result.curves.some((p) => !p.curve && known(p.exact)),
    scored: result.curves.some((p) => p.curve), exactScores: result.curves.some((p) => p.curve && known(p.exact)),
    accuracy: orNone(result.accuracy, percent(result.accuracy)), accuracyOrDash: percent(result.accuracy),
    accuracyError: percent(result.accuracy_error), auc: orNone(result.auc, fixed(result.auc, 3)), aucOrDash: fixed(result.auc, 3),
    aucError: orNone(result.auc_error, fixed(result.auc_error, 3)),
    compared: known(result.accuracy) && known(baseline.pooled_accuracy), held: (baseline.records_held || 0).toLocaleString("en-US"),
    majority: percent(baseline.majority), pooled: percent(baseline.pooled_accuracy), pooledAuc: fixed(baseline.pooled_auc, 3),
    pooledAny: known(baseline.pooled_accuracy) || known(error.pooled), bound: orNone(result.regret.bound, fixed(result.regret.bound, 4)),
    error: orNone(error.root_mean_square, fixed(error.root_mean_square, 3)), errorAbsolute: fixed(error.mean_absolute, 3),
    errorConstant: fixed(error.constant, 3), errorPooled: orNone(error.pooled, fixed(error.pooled, 3)) || "\u2013",
    leastSquares: known(error.pooled), pinball: orNone(error.pinball, fixed(error.pinball, 3))
  }, worth(), closeness());
}

/* Columns in which the key's cell, and whatever else is named, is told otherwise. */
function columnsOf(list, changes) {
  return columns[list].map((c) => Object.assign({}, c, changes[c.key]));
}

/* Where a number stands on the range of the answers of its unit: lines of a drawing, which needs no charts and prints. */
function picture(answer) {
  const column = (a) => a.name.startsWith("histogram"); /* its cells are drawn as columns from 0 */
  const ends = listed.slice(0, ROWS_MAX).filter((a) => a.unit === answer.unit).flatMap((a) =>
    [column(a) ? 0 : null, a.value, a.low, a.high, a.exact]).filter(known);
  const low = least(ends), width = most(ends) - low;
  const at = (v) => 6 + (width > 0 ? (v - low) / width : 0.5) * 168, x = (v) => at(v).toFixed(1);
  const parts = [];
  if (known(answer.value) && column(answer)) {
    parts.push(el("rect", { class: "column", x: Math.min(at(0), at(answer.value)).toFixed(1),
      width: Math.abs(at(answer.value) - at(0)).toFixed(1), y: 3, height: 12 }));
  } else if (known(answer.value)) {
    parts.push(el("circle", { class: "told", cx: x(answer.value), cy: 9, r: 4 }));
  }
  /* In front of the dot or column, with an end at either side: it is seen however short it is. */
  if (known(answer.low) && known(answer.high)) {
    const from = x(answer.low), to = x(answer.high);
    parts.push(el("path", { class: "bar", d: "M" + from + " 5V13M" + from + " 9H" + to + "M" + to + " 5V13" }));
  }
  if (known(answer.exact)) {
    parts.push(el("line", { class: "exact", x1: x(answer.exact), x2: x(answer.exact), y1: 1, y2: 17 }));
  }
  return el("svg", { width: 180, height: 18, viewBox: "0 0 180 18", "aria-hidden": "true" }, parts);
}

function answerTable() {
  const valueColumn = columns.answers.find((c) => c.key === "value");
  const list = columnsOf("answers", {
    value: { cell: (a) => a.unit === "p-value" ? pValue(a.value) : written(a.value, valueColumn.format, valueColumn.digits) },
    name: { cell: (a) => [a.name, a.note ? [el("br"), el("small", {}, a.note)] : []] },
    low: { cell: (a) => known(a.low) || known(a.high) ? general(a.low, 5) + " to " + general(a.high, 5) : "\u2013" }, exact: { tag: true },
    interval_low: { cell: (a) => known(a.interval_low) || known(a.interval_high)
      ? general(a.interval_low, 5) + " to " + general(a.interval_high, 5) : "" }
  }).filter((c) => (c.key !== "exact" || listed.some((a) => known(a.exact)))
    && (c.key !== "interval_low" || listed.some((a) => known(a.interval_low))));
  list.splice(1, 0, { label: "", style: "picture", cell: picture });
  table("answers", list, listed);
}

function releaseTable() {
  const first = (cell) => ({ cell: (r, i) => i === 0 || releases[i - 1].stage !== r.stage ? cell(r) : "" });
  const expected = /: (half of|the same of|the log-rank test|the chi-squared test) /; /* a width, not a bound: result_what_is_expected */
  const noise = (r) => {
    const ninetyFive = !known(r.noise) && known(r.bar) && r.task !== "losses"; /* the bar of a play is a mean */
    if (!known(r.noise) && !known(r.bar)) { return "no answer"; }
    return (known(r.noise) ? "\u00b1 " + general(r.noise, 3) + " "
      : (r.bar > 0 ? (expected.test(r.what) ? "about " : "at most ") : "none, ") + general(r.bar, 3) + " ") + r.unit + (ninetyFive ? " (95 %)" : "");
  };
  table("releases", columnsOf("releases", {
    stage: first((r) => (r.stage + 1) + " " + r.task), noise: { cell: noise },
    mechanism: first((r) => r.mechanism
      + (known(r.sigma) && r.mechanism.includes("aussian") ? ", \u03c3 " + general(r.sigma, 4) + " times the sensitivity" : "")
      + (known(r.sampling) && r.sampling < 1 ? ", on " + general(r.sampling, 3) + " of the records at a time" : "")),
    epsilon: first((r) => fixed(r.epsilon, 4) + (r.delta > 0 ? ", \u03b4 = " + general(r.delta, 3) : "")
      + (r.passes > 1 ? " in " + r.passes + " charges" : ""))
  }), releases);
}

function expertTable() {
  const more = [], rows = experts.map((e, i) => Object.assign({}, e, { mean_loss: judged[i].mean,
    weight: i in lastWeights ? lastWeights[i] : null }, i === chosenIndex ? { name: e.name + " (chosen)", style: "chosen" } : {}));
  if (known(baseline.pooled_accuracy)) {
    more.push({ name: "pooled, not private, simulator only", style: "pooled", lambda: baseline.pooled_lambda,
      accuracy: baseline.pooled_accuracy, auc: baseline.pooled_auc });
    more.push({ name: "majority class", accuracy: baseline.majority, auc: 0.5 });
  }
  table("experts", columnsOf("experts", {}).concat(
    { key: "mean_loss", label: "mean loss", format: "fixed", digits: 4 },
    { key: "weight", label: rows.some((r) => known(r.weight_low)) ? "last weight (without the noise, about 95 %)" : "last weight", format: "percent", digits: 1,
      cell: (r) => weightText(r.weight, r) }), rows, more);
}

/* A part of the result, its figures below each other. */
function partTable(id, part, change) {
  table(id, [{ key: "label", label: "figure", format: "text" }, { key: "value", label: "value", format: "text" }],
    columns[id].map((c) => Object.assign({ label: c.label, value: written(part[c.key], c.format, c.digits) }, change(c))));
}

function forecastCards() {
  const cards = document.getElementById("forecasts"), tables = document.getElementById("forecast-tables");
  result.forecasts.forEach((f, number) => {
    const about = "Line chart of the forecasts and the truth of " + f.stream + ". The figures are in the table below.";
    cards.appendChild(el("figure", { class: "card" },
      el("figcaption", {}, el("h3", {}, f.stream, " ", el("span", { class: "tag" }, "simulator only")),
        el("p", {}, "The last " + f.truth.length + " days held out: what was, and what the chosen model said the day before.")),
      el("div", { class: "plot" }, el("canvas", { id: "chart-forecast-" + number, role: "img", "aria-label": printable(about) }))));
    tables.appendChild(el("details", {}, el("summary", {}, "Forecasts of " + f.stream), el("div", { class: "scroll" },
      el("table", { id: "forecast-" + number }, el("caption", {}, "Simulator only: exact records.")))));
    table("forecast-" + number, [{ label: "day", cell: (row, i) => String(i + 1) },
      { label: "truth", cell: (row) => fixed(row[0], 4) }, { label: "forecast", cell: (row) => fixed(row[1], 4) }],
      f.truth.map((v, i) => [v, f.forecast[i]]));
  });
}

fill(facts());
answerTable();
result.rounds.filter((r) => r.said !== undefined).forEach((r) => document.getElementById("found").appendChild(
  el("p", { class: "said" }, r.stage + ", round " + (r.round + 1) + ": ", el("strong", {}, r.said))));
releaseTable();
if (result.forecasts.length > 0) { forecastCards(); }
expertTable();
table("rounds", columnsOf("rounds", {
  round: { cell: (r) => String(r.round + 1) }, stage: { cell: (r) => r.stage + (r.failed ? " (failed)" : "") },
  chosen: { cell: (r) => r.said !== undefined ? r.said : r.chosen || "" }
}), result.rounds);
table("per_agent", columnsOf("per_agent", {}), result.privacy.per_agent);
partTable("error", error, () => ({}));
partTable("regret", result.regret, (c) => c.key === "average" && !known(result.regret.average)
  ? { label: c.label + ": nobody may know, under this trust" } : {});
