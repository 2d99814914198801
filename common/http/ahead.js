/* What the coordinator's page draws of forecasts: those of a series by its released models, from days that are made up (outlook.h),
 * and what a predict round answered for the job's public records. It stands beside live.js. Bars are two standard deviations, about 95 %. */
let aheadCharts = [], aheadKey = "";

const SHOWN_LEVELS = [2, 4, 6]; /* a quarter, half and three quarters of the public range */
const POINTS_DRAWN = 24;
const wide95 = (noise) => (known(noise) ? 2 * noise : null);
const inUnit = (ahead) => (ahead.unit === "" ? "the label's unit" : ahead.unit);

function aheadText(value, noise) {
  return general(value, 4) + (!known(noise) ? "" : noise === 0 ? " (without noise)" : " \u00b1 " + general(wide95(noise), 2));
}

function aheadName(model) {
  return experts[model.expert].name + (model.expert === chosenIndex ? " (chosen)" : "");
}

/* An axis that has room for all values and their bars, within the public range. */
function roomFor(ahead, values, bars) {
  const low = Math.min(...values.map((v, i) => v - (bars[i] || 0))), high = Math.max(...values.map((v, i) => v + (bars[i] || 0)));
  const edge = 0.05 * (high - low) || 0.05 * (ahead.levels[ahead.levels.length - 1] - ahead.levels[0]);
  return { min: Math.max(ahead.levels[0], low - edge), max: Math.min(ahead.levels[ahead.levels.length - 1], high + edge),
    ticks: { color: c.soft, includeBounds: false, callback: (v) => general(v, 3) } };
}

/* A line for each model over the level of the days before; the bars are the first one's. */
function drawTomorrow(ahead) {
  const hues = [c.bound, c.pooled, c.plain, c.other, c.soft], first = ahead.models[0];
  const line = (model, i) => {
    const hue = i === 0 ? c.chosen : hues[(i - 1) % hues.length];
    return { label: shorter(aheadName(model)), data: model.value, borderColor: hue, backgroundColor: hue, borderWidth: i === 0 ? 2.5 : 1.25,
      clip: 8, borderDash: i === 0 ? [] : [[5, 4], [2, 3]][i % 2], pointRadius: i === 0 ? 3 : 0 };
  };
  draw("chart-tomorrow", { type: "line", data: { labels: ahead.levels.map((v) => general(v, 3)), datasets: ahead.models.map(line).reverse() }, options: base({
    interaction: { mode: "index", intersect: false },
    scales: { x: counted(`every day before, in ${inUnit(ahead)}`),
      y: axis(inUnit(ahead), roomFor(ahead, ahead.models.flatMap((m) => m.value), ahead.models.flatMap((m, i) => m.noise.map((n) => (i === 0 ? wide95(n) : 0))))) },
    plugins: { legend: { ...legend(), reverse: true }, whiskers: { axis: "y", errors: first.noise.map(wide95) } }
  }), plugins: [whiskers] });
}

/* The days from each start, with a band where the noise is known. */
function drawDays(ahead) {
  const hues = [c.pooled, c.chosen, c.bound];
  const sets = ahead.paths.flatMap((path, i) => {
    const hue = hues[i % hues.length], band = path.noise.every((n) => known(n)) && path.noise.some((n) => n > 0);
    const edge = (sign, fill) => ({ label: "", data: path.value.map((v, day) => v + sign * wide95(path.noise[day])), borderWidth: 0, pointRadius: 0, fill,
      backgroundColor: alpha(hue, 0.16) });
    return [...(band ? [edge(-1, false), edge(1, "-1")] : []),
      { label: `after days of ${general(path.start, 3)}`, data: path.value, borderColor: hue, backgroundColor: hue, borderWidth: 2, pointRadius: 0 }];
  });
  const plugin = legend();
  plugin.labels.filter = (item) => item.text !== "";
  draw("chart-days", { type: "line", data: { labels: ahead.paths[0].value.map((v, day) => day + 1), datasets: sets }, options: base({
    interaction: { mode: "index", intersect: false },
    scales: { x: counted("days from today"), y: axis(inUnit(ahead), roomFor(ahead, ahead.paths.flatMap((p) => p.value), ahead.paths.flatMap((p) => p.noise.map(wide95)))) },
    plugins: { legend: plugin, tooltip: { filter: (item) => item.dataset.label !== "", callbacks: { label: (t) => t.dataset.label + ": " + general(t.raw, 3) } } }
  }) });
}

function drawPoints(answers) {
  const rows = answers.slice(0, POINTS_DRAWN).map((a) => ({ name: a.name, value: a.value, kind: "chosen",
    error: known(a.low) && known(a.high) ? Math.max(a.high - a.value, a.value - a.low) : null }));
  dots("chart-points", rows, [], decimal, answers[0].unit);
}

function tomorrowTable(ahead) {
  const at = SHOWN_LEVELS.filter((i) => i < ahead.levels.length);
  return section("Forecasts for tomorrow", "By the released models, if every day before had been alike. Behind \u00b1: what the noise leaves uncertain, about 95 %. "
    + "A model that the job writes has no noise. Of models without \u00b1 it is not known how far the noise moves them", ["model", ...at.map((i) => `after days of ${general(ahead.levels[i], 3)}`)],
    ahead.models.map((m) => [aheadName(m), ...at.map((i) => aheadText(m.value[i], m.noise[i]))]));
}

function pointsTable(answers) {
  return section("Forecasts for the job's public records", "What the sites' models answered on average in the latest round of the kind, with its noise, and where the answer without noise lies with at least 95 %. "
    + "At most the first 64", ["record", "forecast", "95 %", "in"],
    answers.map((a) => [a.name, general(a.value, 3), general(a.low, 3) + " to " + general(a.high, 3), a.unit]));
}

function tellAhead(ahead) {
  const chosen = ahead.models.find((m) => m.expert === chosenIndex);
  const middle = SHOWN_LEVELS[1];
  byId("ahead-note").textContent = "The days are made up, and no site's record is in them. Forecasts follow from the released models, and change with each of them."
    + (chosen === undefined ? "" : ` After days of ${general(ahead.levels[middle], 3)} the chosen model, ${experts[chosenIndex].name}, expects ${aheadText(chosen.value[middle], chosen.noise[middle])}, in ${inUnit(ahead)}.`);
  label("chart-tomorrow", "Forecast for tomorrow of each released model, by how the days before were. " + byId("ahead-note").textContent);
  label("chart-days", ahead.paths.length === 0 ? "" : "The next days by the chosen model. " + ahead.paths.map((p) =>
    `After days of ${general(p.start, 3)}: ${aheadText(p.value[0], p.noise[0])} tomorrow, ${aheadText(p.value[p.value.length - 1], p.noise[p.value.length - 1])} in ${p.value.length} days.`).join(" "));
}

function showAhead(drawn, ahead) {
  const answers = drawn === null ? [] : drawn.result.answers;
  const key = JSON.stringify([ahead, answers, drawn === null ? null : drawn.result.chosen, dark.matches, innerWidth]);
  if (key === aheadKey) return;
  aheadKey = key;
  aheadCharts.forEach((chart) => chart.destroy());
  const kept = charts;
  charts = [];
  byId("ahead").hidden = ahead === null && answers.length === 0;
  byId("ahead-days").hidden = ahead === null || ahead.paths.length === 0;
  byId("ahead-series").hidden = ahead === null;
  byId("ahead-points").hidden = answers.length === 0;
  keepFocus(byId("ahead-tables"), () => byId("ahead-tables").replaceChildren(...(ahead === null ? [] : [tomorrowTable(ahead)]),
    ...(answers.length === 0 ? [] : [pointsTable(answers)])));
  prepare();
  if (ahead !== null) {
    tellAhead(ahead);
    drawTomorrow(ahead);
    if (ahead.paths.length > 0) drawDays(ahead);
  }
  if (answers.length > 0) {
    label("chart-points", "Forecast for each of the job's public records. The table below has the figures.");
    drawPoints(answers);
  }
  aheadCharts = charts;
  charts = kept;
}
