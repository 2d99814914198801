/* Scores judged by an event: how often it happens beside what the score says, and what treating by it is worth. Lines of a drawing,
 * each small enough for a telephone. */
const SCORE = { left: 56, right: 14, top: 12, width: 420, height: 270, below: 44 };

/* Of a line that falls out of the drawing, the part inside: it ends where it leaves. */
function aboveFloor(points, floor) {
  const out = points.findIndex((p) => p.value < floor);
  if (out <= 0) { return out === 0 ? [] : points; }
  const a = points[out - 1], b = points[out], share = (a.value - floor) / (a.value - b.value);
  return points.slice(0, out).concat({ time: a.time + share * (b.time - a.time), value: floor });
}

/* The questions' pictures: [{question, round, curve, groups: [{name, points}]}]; a net benefit has that of treating all beside it. */
function scoresOf(points) {
  const pictures = [];
  points.forEach((p) => {
    const [curve, all] = p.curve.split(", ");
    let one = pictures.find((c) => c.question === p.question && c.round === p.round && c.curve === curve);
    if (!one) { pictures.push(one = { question: p.question, round: p.round, curve: curve, groups: [] }); }
    let group = one.groups.find((g) => g.name === p.group);
    if (!group) { one.groups.push(group = { name: p.group, points: [], all: [] }); }
    (all ? group.all : group.points).push(p);
  });
  return pictures;
}

function scorePicture(picture) {
  const isBenefit = picture.curve === "net benefit", groups = picture.groups;
  const shown = groups.flatMap((g) => g.points.concat(g.all)).filter((p) => known(p.value));
  const times = groups.flatMap((g) => g.points.map((p) => p.time)), step = times.length > 1 ? Math.abs(times[1] - times[0]) : 0.5;
  const isRisk = isBenefit || (least(times) >= 0 && most(times) <= 1);
  const from = isBenefit ? 0 : least(times) - step / 2, to = isBenefit ? most(times) + step : most(times) + step / 2;
  /* Treating all soon costs more than it is worth: how much more is of no use. */
  const top = isBenefit ? Math.max(0.05, most(shown.flatMap((p) => [p.value, p.high])) * 1.05) : 1, floor = isBenefit ? -top / 3 : 0;
  const plot = SCORE.width - SCORE.left - SCORE.right, bottom = SCORE.top + SCORE.height;
  const x = (t) => (SCORE.left + (t - from) / (to - from) * plot).toFixed(1);
  const y = (v) => (bottom - (Math.min(Math.max(v, floor), top) - floor) / (top - floor) * SCORE.height).toFixed(1);
  const text = (at, down, anchor, words) => el("text", { x: at, y: down, "text-anchor": anchor }, words);
  const parts = [];
  roundTicks(floor, top, 5).forEach((v) => parts.push(el("line", { class: "grid", x1: x(from), x2: x(to), y1: y(v), y2: y(v) }),
    text(SCORE.left - 8, Number(y(v)) + 4, "end", isBenefit ? general(v, 3) : general(100 * v, 3) + "%")));
  roundTicks(from, to, 5).forEach((t) => parts.push(text(x(t), bottom + 18, "middle", general(t, 3))));
  parts.push(text(x((from + to) / 2), bottom + 38, "middle", isBenefit ? "threshold of the risk" : "score"));
  if (isBenefit) { parts.push(el("line", { class: "none", x1: x(from), x2: x(to), y1: y(0), y2: y(0) })); }
  if (!isBenefit && isRisk) { parts.push(el("path", { class: "without", d: "M" + x(from) + " " + y(from) + "L" + x(to) + " " + y(to) })); }
  const path = (list) => "M" + list.map((p) => x(p.time) + " " + y(p.value)).join("L");
  groups.forEach((group, g) => {
    const hue = HUES[g % HUES.length], points = group.points.filter((p) => known(p.value)), all = aboveFloor(group.all.filter((p) => known(p.value)), floor);
    if (points.length === 0) { return; }
    parts.push(el("path", { fill: hue, "fill-opacity": 0.18, d: "M" + points.map((p) => x(p.time) + " " + y(p.high)).join("L") + "L"
      + points.slice().reverse().map((p) => x(p.time) + " " + y(p.low)).join("L") + "Z" }));
    if (all.length > 1) { parts.push(el("path", { class: "curve beside", stroke: hue, d: path(all) })); }
  });
  groups.forEach((group, g) => {
    const hue = HUES[g % HUES.length], points = group.points.filter((p) => known(p.value));
    const exact = group.points.filter((p) => known(p.exact) && known(p.value));
    if (points.length === 0) { return; }
    parts.push(el("path", { class: "curve", stroke: hue, d: path(points) }), points.map((p) =>
      [el("line", { class: "end", stroke: hue, x1: x(p.time), x2: x(p.time), y1: y(p.low), y2: y(p.high) }),
        el("circle", { fill: hue, cx: x(p.time), cy: y(p.value), r: 3.2 })]),
    exact.map((p) => el("line", { class: "exact", x1: Number(x(p.time)) - 6, x2: Number(x(p.time)) + 6, y1: y(p.exact), y2: y(p.exact) })));
  });
  return el("svg", { class: "curves score", viewBox: "0 0 " + SCORE.width + " " + (bottom + SCORE.below), role: "img",
    "aria-label": printable((isBenefit ? "Net benefit of " : "Calibration of ") + picture.question + ". The figures are in the tables below.") }, parts);
}

function scoreCards() {
  const place = document.getElementById("score-cards");
  if (!place) { return; }
  const words = {
    "calibration": "Calibration: the share with the event, by level of the score.",
    "net benefit": "Decision curve: net benefit for each person of treating those above a threshold; thin: of treating all; grey: of treating nobody."
  };
  scoresOf(scored).forEach((picture) => {
    const missing = picture.groups.flatMap((g) => g.points).filter((p) => !known(p.value)).length;
    place.appendChild(el("figure", { class: "card" }, el("figcaption", {}, el("h3", {}, picture.question), el("p", {}, words[picture.curve]),
      el("ul", { class: "key" }, picture.groups.map((g, i) => el("li", { class: "hue" + i % HUES.length }, g.name || "all")))),
    scorePicture(picture),
    el("p", {}, (missing > 0 ? missing + " point" + (missing === 1 ? " is" : "s are") + " not shown: not enough data at this epsilon. " : "") + priceText(picture.round))));
  });
}

scoreCards();
table("scores", [{ key: "question", label: "question", format: "text" }, { key: "curve", label: "curve", format: "text" }]
  .concat(columnsOf("curves", {
    time: { label: "score or threshold" }, value: { label: "value" },
    low: { cell: (p) => fixed(p.low, 3) + " to " + fixed(p.high, 3) },
    noise_low: { cell: (p) => fixed(p.noise_low, 3) + " to " + fixed(p.noise_high, 3) }, exact: { tag: true }
  }).filter((c) => !["band_low", "at_risk"].includes(c.key) && (c.key !== "exact" || scored.some((p) => known(p.exact))))), scored);
