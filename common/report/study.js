/* A study's claims, its tables, and its charts: one line for each series, bounds dashed. */
const data = JSON.parse(document.getElementById("data").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const hues = ["#1f7a4d", "#3b7ea1", "#c08a2d", "#a5523f", "#7a5ea8", "#5f7f8f", "#b86b92", "#6b8e4e"];
const lighter = ["#58c98d", "#6fb4d8", "#e0a84a", "#e08b74", "#b39ddb", "#9dbccb", "#e3a0c3", "#a9c98c"];
let charts = [];

function colour(name, fallback) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || fallback;
}
function short(v) {
  v = Number(Number(v).toPrecision(3));
  return Math.abs(v) >= 1000 ? v.toLocaleString("en-US") : v.toString();
}
/* A power of ten always; 2 and 5 times it where there are few powers. */
function stands(v, scale) {
  var power = Math.pow(10, Math.floor(Math.log10(v) + 1e-9)), digit = Math.round(v / power);
  var decades = Math.log10(scale.max / scale.min);
  return digit === 1 || (decades < 2.5 && (digit === 2 || digit === 5));
}

function axis(title, log, soft, grid) {
  return {
    type: log ? "logarithmic" : "linear",
    title: { display: true, text: title, color: soft },
    ticks: { color: soft, maxRotation: 0, autoSkip: !log, callback: function (v) {
      return !log || stands(v, this) ? short(v) : "";
    } },
    grid: { color: grid, drawBorder: false }
  };
}

function draw(chart, index, plain) {
  var canvas = document.getElementById("chart-" + index);
  var soft = plain ? "#5c6a63" : colour("soft", "#5c6a63"), grid = plain ? "#e3e1d8" : colour("line", "#e3e1d8");
  if (!canvas) { return; }
  charts.push(new Chart(canvas, {
    type: "scatter",
    data: { datasets: chart.series.map(function (s) {
      var hue = (dark.matches && !plain ? lighter : hues)[s.hue] || soft, bound = s.line === "bound";
      return {
        label: s.name, showLine: true, borderColor: hue, backgroundColor: hue,
        borderDash: bound ? [6, 4] : [], borderWidth: bound ? 1.5 : 2, pointRadius: bound ? 0 : 3.5,
        pointStyle: bound ? "line" : "circle",
        data: s.points.filter(function (p) {
          return p[0] !== null && p[1] !== null && (!chart.x_log || p[0] > 0) && (!chart.y_log || p[1] > 0);
        }).map(function (p) { return { x: p[0], y: p[1] }; })
      };
    }) },
    options: {
      responsive: true, maintainAspectRatio: false, animation: false,
      scales: { x: axis(chart.x, chart.x_log, soft, grid), y: axis(chart.y, chart.y_log, soft, grid) },
      plugins: {
        legend: { position: "bottom", align: "start",
          labels: { color: soft, boxWidth: 22, boxHeight: 6, usePointStyle: true, padding: 10,
            /* a bound has the hue of what it bounds */
            filter: function (item) { return !/: bound$/.test(item.text); } } },
        tooltip: { callbacks: { label: function (t) {
          return t.dataset.label + ": " + short(t.parsed.y) + " at " + short(t.parsed.x);
        } } }
      }
    }
  }));
}

function all(plain) {
  charts.forEach(function (chart) { chart.destroy(); });
  charts = [];
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  data.charts.forEach(function (chart, index) { draw(chart, index, plain); });
}

/* Words stand at the left, figures at the right: a column without one number is of words. */
function figures(id, of) {
  table(id, of.columns.map((label, i) => {
    const words = of.rows.every((row) => isNaN(parseFloat(row[i])));
    return { key: i, label: label, format: "text", style: words ? "text" : "number" };
  }), of.rows);
}

const claims = data.claims;
fill(Object.assign({}, data, { held: claims.filter((c) => c.holds).length, claims: claims.length,
  charts: data.charts.length > 0, worst: data.summary.rows.length > 0, rows: data.table.rows.length > 0 }));
table("claims", [{ key: "sentence", label: "claim", format: "text" },
  { key: "measured", label: "measured", format: "significant", digits: 5 }, { label: "", cell: (c) => c.relation.replace(" ", "\u00a0") },
  { key: "bound", label: "bound", format: "significant", digits: 5 },
  { label: "holds", cell: (c) => c.holds ? "yes" : el("strong", {}, "NO") }],
  claims.map((c) => Object.assign({}, c, { style: c.holds ? "" : "pooled" })));
data.charts.forEach((chart, i) => document.getElementById("cards").appendChild(
  el("figure", { class: "card" + (i + 1 === data.charts.length && i % 2 === 0 ? " wide" : "") },
    el("figcaption", {}, el("h3", {}, chart.title), el("p", {}, chart.text)),
    el("div", { class: "plot dots" }, el("canvas", { id: "chart-" + i, role: "img",
      "aria-label": printable(chart.title) + ". The figures are in the table below." })))));
figures("summary", data.summary);
figures("figures", data.table);
present("NOT PRIVATE \u00b7 " + data.title + " \u00b7 hedgerow study", all);
