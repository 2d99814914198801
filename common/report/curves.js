/* Curves as papers draw them: each group's line with its interval and band, and the numbers at risk underneath. Lines of a
 * drawing, which needs no charts and prints. */
const HUES = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => "var(--hue" + i + ")"); /* page.css, light and dark */
const FRAME = { left: 150, right: 20, top: 12, width: 860, height: 330, row: 20, letters: 22 };

const survived = result.curves.filter((p) => !p.curve), scored = result.curves.filter((p) => p.curve);

/* Round numbers from low to high, about as many as wanted: multiples of 1, 2, 2.5 or 5 times a power of ten. */
function roundTicks(low, high, wanted) {
  const power = Math.pow(10, Math.floor(Math.log10((high - low) / wanted)));
  const step = power * [1, 2, 2.5, 5, 10].find((m) => (high - low) / (m * power) <= wanted + 1e-9), ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) { ticks.push(Number((k * step).toPrecision(12))); }
  return ticks;
}
/* At a time between two intervals' begins, where the numbers are known. */
function atRisk(points, time, end) {
  const place = Math.min(time / end * points.length, points.length - 1), j = Math.floor(place);
  const next = points[Math.min(j + 1, points.length - 1)].at_risk;
  return known(points[j].at_risk) && known(next) ? points[j].at_risk + (place - j) * (next - points[j].at_risk) : null;
}

/* The questions' curves: [{question, groups: [{name, points}]}]. */
function curvesOf(points) {
  const curves = [];
  points.forEach((p) => {
    let curve = curves[curves.length - 1];
    if (!curve || curve.question !== p.question || curve.round !== p.round) {
      curves.push(curve = { question: p.question, round: p.round, groups: [] });
    }
    let group = curve.groups[curve.groups.length - 1];
    if (!group || group.name !== p.group) { curve.groups.push(group = { name: p.group, points: [] }); }
    group.points.push(p);
  });
  return curves;
}

/* own: its answers; those about time tell its unit. */
function curvePicture(curve, own) {
  const end = most(curve.groups.flatMap((g) => g.points.map((p) => p.time)));
  const plotWidth = FRAME.width - FRAME.left - FRAME.right, bottom = FRAME.top + FRAME.height;
  const x = (t) => (FRAME.left + t / end * plotWidth).toFixed(1), y = (v) => (bottom - v * FRAME.height).toFixed(1);
  const text = (at, down, anchor, words, hue) => el("text", { x: at, y: down, "text-anchor": anchor, fill: hue || null }, words);
  const parts = [], shown = (p) => known(p.value);
  [0, 0.25, 0.5, 0.75, 1].forEach((v) => parts.push(el("line", { class: "grid", x1: x(0), x2: x(end), y1: y(v), y2: y(v) }),
    text(FRAME.left - 8, Number(y(v)) + 4, "end", String(100 * v) + "%")));
  const ticks = roundTicks(0, end, 8);
  ticks.forEach((t) => parts.push(text(x(t), bottom + 18, "middle", general(t, 6))));
  const area = (points, low, high) => "M" + points.map((p) => x(p.time) + " " + y(p[high])).join("L") + "L"
    + points.slice().reverse().map((p) => x(p.time) + " " + y(p[low])).join("L") + "Z";
  curve.groups.forEach((group, g) => {
    const hue = HUES[g % HUES.length], points = group.points.filter(shown);
    if (points.length === 0) { return; }
    parts.push(el("path", { fill: hue, "fill-opacity": 0.13, d: area(points, "band_low", "band_high") }),
      el("path", { fill: hue, "fill-opacity": 0.22, d: area(points, "low", "high") }));
  });
  curve.groups.forEach((group, g) => {
    const hue = HUES[g % HUES.length], points = group.points.filter(shown), exact = group.points.filter((p) => known(p.exact));
    const path = (list, key) => "M" + x(0) + " " + y(1) + list.map((p) => "L" + x(p.time) + " " + y(p[key])).join("");
    if (exact.length > 0) { parts.push(el("path", { class: "without", d: path(exact, "exact") })); }
    if (points.length > 0) { parts.push(el("path", { class: "curve", stroke: hue, d: path(points, "value") })); }
  });
  const under = bottom + 46;
  const timed = own.find((a) => a.name.includes(": mean up to "));
  parts.push(text(12, under, "start", "At risk, about"));
  if (timed) { parts.push(text(x(end), under, "end", timed.unit)); }
  curve.groups.forEach((group, g) => {
    const down = under + (g + 1) * FRAME.row, hue = HUES[g % HUES.length], name = group.name || "all";
    parts.push(text(FRAME.left - 24, down, "end",
      name.length > FRAME.letters ? name.slice(0, FRAME.letters - 1) + "\u2026" : name, hue));
    const count = group.points.length; /* the last interval's begin is the last time that a number is known for */
    ticks.filter((t) => t <= (count - 1) / count * end + 1e-9 * end).forEach((t) =>
      parts.push(text(x(t), down, "middle", fixed(atRisk(group.points, t, end), 0))));
  });
  const height = under + curve.groups.length * FRAME.row + 14;
  return el("svg", { class: "curves", viewBox: "0 0 " + FRAME.width + " " + height, role: "img",
    "aria-label": printable("Survival curves of " + curve.question + ". The figures are in the tables below.") }, parts);
}

function curveCards() {
  const place = document.getElementById("curve-cards");
  if (!place) { return; }
  curvesOf(survived).forEach((curve) => {
    const own = answers.filter((a) => a.name.startsWith(curve.question + ": "));
    const refused = curve.groups.filter((g) => !g.points.some((p) => known(p.value))).map((g) => g.name || "all");
    const notes = own.map((a) => a.note || "").filter((note) => note.startsWith("not enough data"));
    place.appendChild(el("figure", { class: "card wide" },
      el("figcaption", {}, el("h3", {}, curve.question),
        el("ul", { class: "key" }, curve.groups.map((g, i) => el("li", { class: "hue" + i % HUES.length }, g.name || "all")))),
      el("div", { class: "scroll" }, curvePicture(curve, own)), el("p", {}, priceText(curve.round)),
      refused.length > 0 ? el("p", {}, "No curve of " + refused.join(", ") + ": " + notes[0] + ".") : []));
  });
}

curveCards();
table("curves", [{ key: "question", label: "question", format: "text" }].concat(columnsOf("curves", {
  low: { cell: (p) => fixed(p.low, 3) + " to " + fixed(p.high, 3) },
  band_low: { cell: (p) => fixed(p.band_low, 3) + " to " + fixed(p.band_high, 3) },
  noise_low: { cell: (p) => fixed(p.noise_low, 3) + " to " + fixed(p.noise_high, 3) }, exact: { tag: true }
}).filter((column) => column.key !== "exact" || survived.some((p) => known(p.exact)))), survived);
