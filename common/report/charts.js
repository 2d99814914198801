/* Draws the report's charts. Every chart has its table below; without them nothing but the pictures is missing. */
var charts = [];
var onPaper = false;

/* The mean released loss of each expert over the rounds that know it, and of how many rounds it is. */
function judgedOf(result) {
  return result.experts.map(function (e, i) {
    var losses = result.rounds.filter(function (r) { return r.losses && known(r.losses[i]); }).map(function (r) { return r.losses[i]; });
    return { mean: losses.length > 0 ? losses.reduce(function (s, v) { return s + v; }, 0) / losses.length : null, rounds: losses.length };
  });
}
/* The standard deviation of the noise on a released loss. */
function lossNoiseOf(result) {
  return (result.releases.find(function (r) { return r.unit === "loss" && known(r.noise); }) || { noise: NaN }).noise;
}

/* "print" media never takes the dark colours, so the canvas must not either. */
function colour(name, printing) {
  var light = { paper: "#ffffff", ink: "#1d2622", soft: "#5c6a63", line: "#e3e1d8", chosen: "#1f7a4d",
    pooled: "#b7791f", other: "#a9b8ae", left: "#d5e3d9", plain: "#8a8f8c", bound: "#7a5ea8" };
  if (printing) { return light[name]; }
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || light[name];
}
function alpha(hex, a) {
  return hex + Math.round(a * 255).toString(16).padStart(2, "0");
}
function decimal(v) { return Number(v).toFixed(3); }
/* As in the terminal: the first round is 1. */
function number(round) { return round.round + 1; }
/* The next round figure: the top of a scale. */
function roundUp(v) {
  var power = Math.pow(10, Math.floor(Math.log10(v)));
  return power * [1, 1.2, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10].find(function (m) { return m * power >= v * (1 - 1e-9); });
}

var c = {};
function palette(printing) {
  ["ink", "soft", "line", "chosen", "pooled", "other", "left", "plain", "bound"].forEach(function (n) {
    c[n] = colour(n, printing);
  });
}

function base(extra) {
  var options = {
    responsive: !onPaper, maintainAspectRatio: false, animation: false,
    plugins: { legend: { display: false }, tooltip: { displayColors: false } },
    scales: {}
  };
  Object.keys(extra).forEach(function (k) {
    if (k === "plugins") { Object.assign(options.plugins, extra.plugins); } else { options[k] = extra[k]; }
  });
  return options;
}
/* Rounds or days below a chart: as many figures as stand apart. */
function counted(title, more) {
  return axis(title, Object.assign({ grid: { display: false }, ticks: { color: c.soft, maxRotation: 0, autoSkipPadding: 10 } }, more || {}));
}
function axis(title, more) {
  return Object.assign({
    title: { display: !!title, text: title, color: c.soft },
    ticks: { color: c.soft }, grid: { color: c.line, drawBorder: false }
  }, more || {});
}
function legend() {
  return { display: true, position: "bottom", align: "start",
    labels: { color: c.soft, boxWidth: 7, boxHeight: 7, usePointStyle: true, padding: 12 } };
}
function draw(id, config) {
  var canvas = document.getElementById(id);
  if (!canvas) { return; }
  /* The paper's layout is not known before it is printed: a fixed size, which the style scales. */
  ["width", "height"].forEach(function (name) { canvas.removeAttribute(name); });
  canvas.removeAttribute("style");
  if (onPaper) {
    canvas.width = canvas.closest(".wide") ? 860 : 420;
    canvas.height = Math.min(canvas.parentElement.clientHeight || 280, canvas.parentElement.classList.contains("dots") ? 440 : 280);
  }
  charts.push(new Chart(canvas, config));
}

/* Upright lines at the pooled model and the majority class, behind the points. */
var references = {
  id: "references",
  beforeDatasetsDraw: function (chart, args, options) {
    (options.lines || []).forEach(function (line) {
      var x = chart.scales.x.getPixelForValue(line.at), area = chart.chartArea, g = chart.ctx;
      g.save();
      g.strokeStyle = line.colour; g.lineWidth = 1.5; g.setLineDash([5, 4]);
      g.beginPath(); g.moveTo(x, area.top); g.lineTo(x, area.bottom); g.stroke();
      g.restore();
    });
  }
};

/* Bars of the noise: in front of the points, so that a short one is seen. options: {errors, axis}, the error
 * of each point of the last data set, null where it has none. */
var whiskers = {
  id: "whiskers",
  afterDatasetsDraw: function (chart, args, options) {
    var errors = options.errors || [], meta = chart.getDatasetMeta(chart.data.datasets.length - 1), g = chart.ctx;
    errors.forEach(function (error, i) {
      var point = meta.data[i], value = chart.data.datasets[chart.data.datasets.length - 1].data[i];
      if (!point || !known(error) || !known(value) || error <= 0) { return; }
      var across = options.axis === "x", scale = chart.scales[options.axis];
      var a = scale.getPixelForValue(value - error), b = scale.getPixelForValue(value + error), at = across ? point.y : point.x;
      g.save();
      g.strokeStyle = c.ink; g.lineWidth = 1.4;
      g.beginPath(); g.rect(chart.chartArea.left, chart.chartArea.top, chart.chartArea.width, chart.chartArea.height); g.clip();
      g.beginPath();
      [[a, -4, a, 4], [a, 0, b, 0], [b, -4, b, 4]].forEach(function (s) {
        if (across) { g.moveTo(s[0], at + s[1]); g.lineTo(s[2], at + s[3]); } else { g.moveTo(at + s[1], s[0]); g.lineTo(at + s[3], s[2]); }
      });
      g.stroke();
      g.restore();
    });
  }
};
/* The best few by a figure; the chosen one is always among them. */
function leading(score, descending, count) {
  var order = experts.map(function (e, i) { return i; }).filter(function (i) { return known(score(i)); });
  order.sort(function (a, b) { return descending ? score(b) - score(a) : score(a) - score(b); });
  var top = order.slice(0, count), chosen = chosenIndex;
  if (chosen >= 0 && top.indexOf(chosen) < 0 && order.indexOf(chosen) >= 0) { top[top.length - 1] = chosen; }
  return top;
}
function shorter(name) { return name.replace(/lambda /g, "\u03bb ").replace(/threshold /g, ""); }

/* A name that is longer than a narrow picture's half takes two lines, broken at a space near its middle. */
function labelOf(name, narrow) {
  var text = shorter(name), half = Math.ceil(text.length / 2);
  var at = text.lastIndexOf(" ", half);
  at = at < 1 ? text.indexOf(" ", half) : at;
  return narrow && text.length > 26 && at > 0 ? [text.slice(0, at), text.slice(at + 1)] : text;
}

/* Chart.js would cut long names; half of the picture may be theirs. */
function wide(scale, rows, width, narrow) {
  var g = scale.ctx;
  g.save();
  g.font = Chart.defaults.font.size + "px " + Chart.defaults.font.family;
  var need = Math.max.apply(null, rows.map(function (r) {
    return Math.max.apply(null, [].concat(labelOf(r.name, narrow)).map(function (l) { return g.measureText(l).width; }));
  }));
  g.restore();
  scale.width = Math.min(need + 14, 0.6 * width);
}

/* share: the figure lies between 0 and 1, and so does the axis. */
function dots(id, rows, lines, format, title, share) {
  var canvas = document.getElementById(id);
  if (!canvas || rows.length === 0) { return; }
  /* A narrow axis has room for three figures, and none for a title: the card's text says it. */
  var narrow = !onPaper && canvas.parentElement.clientWidth < 400;
  canvas.parentElement.style.height = Math.max(200, (76 + 23 * rows.length) * Chart.defaults.font.size / 12) + "px";
  var all = rows.map(function (r) { return r.value; });
  var ends = function (sign) { return rows.map(function (r) { return r.value + sign * (known(r.error) ? r.error : 0); }); };
  var low = Math.min.apply(null, ends(-1)), high = Math.max.apply(null, ends(1)), spread = high - low;
  /* Steps from coarse to fine: the first that fits often enough. */
  var steps = [];
  for (var power = Math.pow(10, Math.ceil(Math.log10(Math.max(Math.abs(high), Math.abs(low), 1e-3)))), p = 0; p < 7; p++, power /= 10) {
    steps.push(power / 2, power / 5, power / 10);
  }
  var step = steps.find(function (s) { return spread / s >= (narrow ? 1.2 : 2.5); }) || steps[6];
  /* rounded: 0.7000000000000001 costs the scale a tick */
  low = Number((step * Math.floor(low / step - 0.15)).toFixed(9)); high = Number((step * Math.ceil(high / step + 0.15)).toFixed(9));
  if (share) { low = Math.max(low, 0); high = Math.min(high, 1); }
  var places = Math.max(0, Math.ceil(-Math.log10(format === percent ? 100 * step : step) - 1e-9));
  draw(id, {
    type: "line",
    data: {
      labels: rows.map(function (r) { return labelOf(r.name, narrow); }),
      datasets: [{
        data: all, showLine: false, clip: false,
        pointRadius: rows.map(function (r) { return r.kind === "other" ? 4.5 : 7; }), pointHoverRadius: 8,
        pointStyle: rows.map(function (r) { return r.kind === "pooled" ? "rectRot" : r.kind === "plain" ? "rect" : "circle"; }),
        pointBackgroundColor: rows.map(function (r) { return c[r.kind]; }),
        pointBorderColor: rows.map(function (r) { return c[r.kind]; })
      }]
    },
    options: base({
      indexAxis: "y",
      scales: {
        x: axis(narrow ? "" : title, { min: low, max: high, ticks: { color: c.soft, autoSkip: false, includeBounds: false, callback: function (v, i, all) { return all.length > (narrow ? 4 : 6) && i % 2 > 0 ? "" /* they would touch */ : format === percent ? (100 * v).toFixed(places) + "%" : Number(v).toFixed(places); }, stepSize: step, maxRotation: 0 } }),
        y: axis("", { afterFit: function (scale) { wide(scale, rows, scale.chart.width, narrow); }, ticks: { autoSkip: false, color: rows.map(function (r) { return r.kind === "other" ? c.soft : c[r.kind]; }) }, offset: true })
      },
      plugins: { references: { lines: lines }, whiskers: { axis: "x", errors: rows.map(function (r) { return r.error; }) },
        tooltip: { displayColors: false, callbacks: { label: function (t) { var e = rows[t.dataIndex].error; return format(t.raw) + (known(e) ? " \u00b1 " + format(e) : ""); } } } }
    }),
    plugins: [references, whiskers]
  });
}

function quality(id, field, pooled, plain, title, error) {
  var score = function (i) { return experts[i][field]; };
  var chosen = chosenIndex, lines = [];
  var rows = leading(score, true, 24).map(function (i) {
    return { name: experts[i].name, value: score(i), kind: i === chosen ? "chosen" : "other", error: i === chosen ? error : null };
  });
  if (rows.length === 0) { return; }
  if (known(pooled)) { rows.push({ name: "pooled, not private", value: pooled, kind: "pooled" }); lines.push({ at: pooled, colour: c.pooled }); }
  if (known(plain)) { rows.push({ name: field === "auc" ? "a coin's toss" : "majority class", value: plain, kind: "plain" }); lines.push({ at: plain, colour: c.plain }); }
  rows.sort(function (a, b) { return b.value - a.value; });
  dots(id, rows, lines, field === "auc" ? decimal : percent, title, true);
}

/* A label that is a number. */
function errors(id) {
  var lines = [];
  var rows = [{ name: "chosen: " + (result.chosen || ""), value: error.root_mean_square, kind: "chosen" },
    { name: "pooled, not private", value: error.pooled, kind: "pooled" },
    { name: "always the mean", value: error.constant, kind: "plain" }].filter(function (r) { return known(r.value); });
  rows.forEach(function (r) { if (r.kind !== "chosen") { lines.push({ at: r.value, colour: c[r.kind] }); } });
  rows.sort(function (a, b) { return a.value - b.value; });
  dots(id, rows, lines, decimal, "root mean square error on held-out records, lower is better");
}

function lossesRounds() {
  return result.rounds.filter(function (r) { return Array.isArray(r.losses) && !r.failed; });
}

function meanLosses(id) {
  dots(id, leading(function (i) { return judged[i].mean; }, false, 24).map(function (i) {
    return { name: experts[i].name, value: judged[i].mean, kind: i === chosenIndex ? "chosen" : "other", error: lossNoise / Math.sqrt(judged[i].rounds) };
  }), [], decimal, "mean released loss, lower is better");
}

function losses(id) {
  var rounds = lossesRounds(), chosen = chosenIndex;
  if (rounds.length === 0) { return; }
  var labels = rounds.map(number), few = rounds.length <= 12;
  var sets = experts.map(function (e, i) {
    return { label: e.name, data: rounds.map(function (r) { return r.losses[i]; }), borderWidth: 1, pointRadius: few ? 2 : 0,
      borderColor: alpha(c.other, 0.75), backgroundColor: c.other, order: 3, expert: i };
  }).slice(0, 200);
  var average = rounds.map(function (r) { return r.losses.reduce(function (s, v) { return s + v; }, 0) / r.losses.length; });
  sets.push({ label: "average over all candidates", data: average, borderColor: c.bound, backgroundColor: c.bound, borderWidth: 2, borderDash: [5, 4], pointRadius: 0, order: 2 });
  if (chosen >= 0) {
    sets.push({ label: "chosen", data: rounds.map(function (r) { return r.losses[chosen]; }), borderColor: c.chosen, backgroundColor: c.chosen, borderWidth: 2.5, pointRadius: 2, order: 1 });
  }
  var plugin = legend();
  plugin.labels.filter = function (item) { return item.text === "chosen" || item.text === "average over all candidates"; };
  draw(id, { type: "line", data: { labels: labels, datasets: sets }, options: base({
    interaction: { mode: "nearest", intersect: false },
    scales: { x: counted("round"), y: axis("mean loss, noise included", chosen >= 0 && known(lossNoise) ? {
        suggestedMin: Math.min.apply(null, rounds.map(function (r) { return r.losses[chosen]; })) - lossNoise,
        suggestedMax: Math.max.apply(null, rounds.map(function (r) { return r.losses[chosen]; })) + lossNoise } : {}) },
    plugins: { legend: plugin, whiskers: { axis: "y", errors: chosen >= 0 && rounds.length <= 60 ? rounds.map(function () { return lossNoise; }) : [] } }
  }), plugins: [whiskers] });
}

function weights(id) {
  var rounds = lossesRounds(), chosen = chosenIndex;
  if (rounds.length === 0) { return; }
  var last = rounds[rounds.length - 1].weights || [];
  var peak = function (i) { return rounds.reduce(function (m, r) { return Math.max(m, r.weights ? r.weights[i] : 0); }, 0); };
  if (last.length === 0) { return; }
  var top = leading(peak, true, experts.length <= 8 ? 8 : 6).sort(function (a, b) { return a === chosen ? -1 : b === chosen ? 1 : last[b] - last[a]; });
  var hues = ["#c08a2d", "#7a5ea8", "#3b7ea1", "#a5523f", "#6b8e4e", "#b86b92", "#5f7f8f"], next = 0;
  var few = rounds.length <= 12; /* an area of three rounds would be mostly invention */
  var layer = function (label, fill, value) {
    return { label: label, data: rounds.map(value), fill: true, backgroundColor: fill, borderColor: fill, borderWidth: 0, pointRadius: 0, maxBarThickness: 72 };
  };
  var sets = top.map(function (i) {
    var fill = i === chosen ? c.chosen : alpha(hues[next++], 0.8);
    return layer((i === chosen ? "chosen: " : "") + shorter(experts[i].name), fill, function (r) { return r.weights[i]; });
  });
  if (experts.length > top.length) {
    sets.push(layer("the other " + (experts.length - top.length), c.left, function (r) {
      return r.weights.reduce(function (s, v, i) { return top.indexOf(i) < 0 ? s + v : s; }, 0);
    }));
  }
  draw(id, { type: few ? "bar" : "line", data: { labels: rounds.map(number), datasets: sets }, options: base({
    interaction: { mode: "index", intersect: false },
    scales: { x: counted("round", { stacked: few }), y: axis("weight", { stacked: true, min: 0, max: 1, ticks: { color: c.soft, callback: function (v) { return Math.round(100 * v) + "%"; } } }) },
    plugins: { legend: legend(), tooltip: { callbacks: { label: function (t) { return t.dataset.label + ": " + percent(t.raw); } } } }
  }) });
}

function spend(id) {
  var agents = result.privacy.per_agent;
  if (agents.length === 0) { return; }
  var canvas = document.getElementById(id);
  if (canvas) { canvas.parentElement.style.height = Math.max(180, 110 + 30 * agents.length) + "px"; }
  var sets = [{ label: "spent", data: agents.map(function (a) { return a.epsilon_spent; }), backgroundColor: c.chosen, maxBarThickness: 20 }];
  if (agents.some(function (a) { return known(a.epsilon_left); })) {
    sets.push({ label: result.simulated ? "left under the site's own policy" : "left of the job's price", data: agents.map(function (a) { return a.epsilon_left; }), backgroundColor: c.left, maxBarThickness: 20 });
  }
  draw(id, { type: "bar", data: { labels: agents.map(function (a) { return a.agent; }), datasets: sets }, options: base({
    indexAxis: "y",
    scales: { x: axis("epsilon", { stacked: true, beginAtZero: true }), y: axis("", { stacked: true, grid: { display: false }, ticks: { color: c.ink } }) },
    plugins: { legend: legend(), tooltip: { callbacks: { label: function (t) { return t.dataset.label + ": " + Number(t.raw).toFixed(4); } } } }
  }) });
}

function regret(id) {
  var rounds = lossesRounds().filter(function (r) { return known(r.regret_average); });
  if (rounds.length === 0) { return; }
  var dot = rounds.length === 1 ? 4 : 0, last = rounds[rounds.length - 1];
  /* The first rounds' guarantee is so loose that it would flatten all the rest. */
  var ceiling = known(last.regret_bound) && last.regret_bound > 0 ? roundUp(Math.min(4 * last.regret_bound, 1.05 * Math.max.apply(null, rounds.map(function (r) { return r.regret_bound; })))) : undefined;
  draw(id, { type: "line", data: { labels: rounds.map(number), datasets: [
    { label: "cost of the choice so far (regret)", data: rounds.map(function (r) { return r.regret_average; }), borderColor: c.chosen, backgroundColor: c.chosen, borderWidth: 2.5, pointRadius: dot },
    { label: "the most to be expected", data: rounds.map(function (r) { return r.regret_bound; }), borderColor: c.bound, backgroundColor: c.bound, borderWidth: 2, borderDash: [6, 4], pointRadius: dot }
  ] }, options: base({
    interaction: { mode: "index", intersect: false },
    scales: { x: counted("round"), y: axis("loss per round", { suggestedMin: 0, max: ceiling }) },
    plugins: { legend: legend(), tooltip: { callbacks: { label: function (t) { return t.dataset.label + ": " + Number(t.raw).toFixed(4); } } } }
  }) });
}

function forecasts() {
  result.forecasts.forEach(function (f, i) {
    draw("chart-forecast-" + i, { type: "line", data: { labels: f.truth.map(function (v, d) { return d + 1; }), datasets: [
      { label: "truth", data: f.truth, borderColor: c.plain, backgroundColor: c.plain, borderWidth: 1.5, pointRadius: 1.5 },
      { label: "forecast", data: f.forecast, borderColor: c.chosen, backgroundColor: c.chosen, borderWidth: 2, pointRadius: 0 }
    ] }, options: base({
      interaction: { mode: "index", intersect: false },
      scales: { x: counted("day"), y: axis("in the unit of the figure", { beginAtZero: true }) },
      plugins: { legend: legend(), tooltip: { callbacks: { label: function (t) { return t.dataset.label + ": " + decimal(t.raw); } } } }
    }) });
  });
}

function all(printing) {
  charts.forEach(function (chart) { chart.destroy(); });
  charts = [];
  onPaper = printing;
  palette(printing);
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  quality("chart-accuracy", "accuracy", baseline.pooled_accuracy, baseline.majority, "accuracy on held-out records", result.accuracy_error);
  quality("chart-auc", "auc", baseline.pooled_auc, null, "AUC on held-out records", result.auc_error);
  errors("chart-error");
  meanLosses("chart-mean-losses");
  losses("chart-losses");
  weights("chart-weights");
  spend("chart-spend");
  regret("chart-regret");
  forecasts();
}
