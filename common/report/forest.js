/* Effects by site as papers draw them: a line for each site with its interval, a square as large as its weight, and below
 * them the mean over sites. A table, whose middle cells are drawings on one scale: it can be copied, and fits a telephone. */

/* Days and pounds are written out, not as powers of ten. */
const figure = (v, digits) => known(v) && Math.abs(v) >= Math.pow(10, digits) && Math.abs(v) < 1e6 ? v.toFixed(0) : general(v, digits);

/* Of odds, rates or hazards: deviations are those of the logarithm. */
const ofRatio = (effect) => effect.unit.endsWith(" ratio");

function scaleOf(effect, sites) {
  const isRatio = ofRatio(effect), own = (v) => isRatio ? Math.log(v) : v;
  const ends = sites.concat(effect).flatMap((s) => [s.low, s.value, s.high]).filter(known).map(own);
  const none = isRatio || effect.unit === "coefficient" || effect.name.includes(" less ") ? 0 : null; /* no difference */
  const low = least(ends.concat(none === null ? [] : [none])), high = most(ends.concat(none === null ? [] : [none]));
  const margin = (high - low || 1) * 0.06, from = low - margin, to = high + margin;
  const share = (v) => Math.min(Math.max((v - from) / (to - from), 0), 1);
  /* An end whose words would touch those in the middle has none. */
  const middle = none === null ? (low + high) / 2 : none;
  const ticks = [middle].concat([low, high].filter((v) => Math.abs(share(v) - share(middle)) > 0.3));
  return { at: (v) => share(own(v)), none: none === null ? null : share(none),
    ticks: ticks.map((v) => [share(v), figure(isRatio ? Math.exp(v) : v, 2), v === middle && none === null]) };
}

const inPercent = (share) => (100 * share).toFixed(2) + "%";
/* An end that is not known lies beyond the drawing. */
const lowEnd = (s, scale) => known(s.low) ? scale.at(s.low) : 0;
const highEnd = (s, scale) => known(s.high) ? scale.at(s.high) : 1;

function forestCell(scale, parts) {
  const none = scale.none === null ? [] : [el("line", { class: "none", x1: inPercent(scale.none), x2: inPercent(scale.none),
    y1: "0", y2: "100%" })];
  return el("td", { class: "plotted" }, el("svg", { "aria-hidden": "true" }, none, parts));
}

function siteMarks(s, scale) {
  if (!known(s.value)) { return []; }
  const side = known(s.weight) ? 4 + 14 * Math.sqrt(s.weight) : 4, half = (-side / 2).toFixed(1);
  const reach = !known(s.low) && !known(s.high) ? [] : [el("line", { class: "reach", x1: inPercent(lowEnd(s, scale)), x2: inPercent(highEnd(s, scale)), y1: "50%", y2: "50%" })];
  return reach.concat([el("rect", { class: known(s.weight) ? "told" : "left-out", x: inPercent(scale.at(s.value)), y: "50%", width: side.toFixed(1),
      height: side.toFixed(1), transform: "translate(" + half + " " + half + ")" })]);
}

/* Stretched from end to end, its middle at the mean; a square where there is no interval. */
function diamond(effect, scale) {
  if (!known(effect.low) && !known(effect.high)) {
    return el("rect", { class: "told", x: inPercent(scale.at(effect.value)), y: "50%", width: "10", height: "10", transform: "translate(-5 -5)" });
  }
  const from = lowEnd(effect, scale), width = highEnd(effect, scale) - from;
  const middle = width > 0 ? 100 * (scale.at(effect.value) - from) / width : 50;
  return el("svg", { x: inPercent(from), y: "20%", width: inPercent(width), height: "60%", viewBox: "0 0 100 100",
    preserveAspectRatio: "none" }, el("path", { class: "told", d: "M0 50L" + middle.toFixed(2) + " 0L100 50L" + middle.toFixed(2) + " 100Z" }));
}

function rangeText(low, high, digits) {
  return !known(low) && !known(high) ? "" : (known(low) ? figure(low, digits) : "\u2026") + " to " + (known(high) ? figure(high, digits) : "\u2026");
}

const SHORT_NAME = 17; /* a name that is no longer stands in one line */

function forestRow(name, below, cells, weight, style) {
  return el("tr", { class: style }, el("th", { scope: "row", class: name.length <= SHORT_NAME ? "short" : null }, name, below ? [el("br"), el("small", {}, below)] : []), cells,
    el("td", {}, weight));
}
const forestCells = (cell, value, range) => [cell, el("td", {}, value, range ? [el("br"), el("small", {}, range)] : [])];

/* Rounded up, as less was not tried: result_say_enough. */
function factorText(factor) {
  const step = Math.pow(10, Math.floor(Math.log10(factor)) - 1);
  return general(Math.ceil(factor / step - 1e-9) * step, 3);
}

/* A curve that stays above one half has no median, however many records there are. */
const mayStayAbove = (effect) => (effect.note || "").includes("stays above one half");

/* What would give a site that is left out an answer: result_say_enough. */
function enoughText(effect, site) {
  const records = known(effect.records_needed) && site.records < effect.records_needed;
  return (known(effect.epsilon_factor) ? factorText(effect.epsilon_factor) + " times the \u03b5" + (records ? ", or " : " would be enough") : "")
    + (records ? "about " + fixed(Math.ceil(effect.records_needed), 0) + " records would be enough"
      : !known(effect.epsilon_factor) && known(effect.records_needed)
        ? "it has the " + fixed(Math.ceil(effect.records_needed), 0) + " that do where cells hold alike numbers: some hold few"
          + (mayStayAbove(effect) ? ", or the curve stays above one half" : "") : "");
}

const noData = (effect, site) => (mayStayAbove(effect) ? "none" : "not enough data") + (enoughText(effect, site) ? "; " + enoughText(effect, site) : "");

function forestTable(effect, sites) {
  const scale = scaleOf(effect, sites);
  const rows = sites.map((s) => forestRow(s.site, fixed(s.records, 0) + " records", known(s.value)
    ? forestCells(forestCell(scale, siteMarks(s, scale)), figure(s.value, 3), rangeText(s.low, s.high, 3))
    : el("td", { class: "lacking", colspan: 2 }, el("small", {}, noData(effect, s))), known(s.weight) ? written(s.weight, "percent", 0) : "\u2013", null));
  if (known(effect.value)) {
    rows.push(forestRow("Mean over sites", "random effects", forestCells(forestCell(scale, diamond(effect, scale)), figure(effect.value, 3),
      rangeText(effect.low, effect.high, 3)), "100%", "chosen"));
  }
  if (known(effect.next_low)) {
    rows.push(forestRow("Another such site", "", forestCells(forestCell(scale, el("line", { class: "next", x1: inPercent(scale.at(effect.next_low)),
      x2: inPercent(scale.at(effect.next_high)), y1: "50%", y2: "50%" })), "", rangeText(effect.next_low, effect.next_high, 3)), "", null));
  }
  rows.push(el("tr", { class: "axis", "aria-hidden": "true" }, el("td", {}), el("td", { class: "plotted" }, el("svg", {},
    scale.ticks.map((tick) => el("text", { class: tick[2] ? "between" : null, x: inPercent(tick[0]), y: "70%",
      "text-anchor": tick[0] < 0.15 ? "start" : tick[0] > 0.85 ? "end" : "middle" }, tick[1])))), el("td", {}), el("td", {})));
  return el("table", { class: "forest" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "site"), el("th", { scope: "col" }, ""),
    el("th", { scope: "col" }, effect.unit + ", 95\u00a0%"), el("th", { scope: "col" }, "weight"))), el("tbody", {}, rows));
}

function spreadText(effect) {
  return known(effect.tau) ? "Between sites: \u03c4 = " + figure(effect.tau, 3) + (ofRatio(effect) ? " (of the logarithm)" : "")
    + ", I\u00b2 = " + written(effect.i_squared, "percent", 0) + "; test that all are alike: Q = " + general(effect.q, 3) + (effect.p < 0.001 ? ", p " : ", p = ")
    + pValue(effect.p) + ". Neither sampling nor noise counts as a difference. " : "";
}

const sitesOf = (effect) => result.sites.filter((s) => s.effect === effect.effect && s.round === effect.round);

function forestCard(effect) {
  return el("figure", { class: "card" }, el("figcaption", {}, el("h3", {}, effect.effect)),
    forestTable(Object.assign({ name: effect.effect }, effect), sitesOf(effect)),
    el("p", {}, spreadText(effect) + (!known(effect.value) && effect.sites < 3 && !effect.note ? "Fewer than 3 sites are not joined. " : "") + (effect.note ? upper(effect.note) + ". " : "") + priceText(effect.round)));
}

/* Effects that no site has an answer for, in one card, each with its reason: too little data, or a curve that stays above one half. */
function emptyCard(effects) {
  return el("figure", { class: "card wide" }, el("figcaption", {}, el("h3", {}, "No institution has an answer")),
    el("ul", {}, effects.map((e) => el("li", {}, e.effect, e.note ? [el("br"), el("small", {}, upper(e.note) + ".")] : []))),
    el("p", {}, priceText(effects.every((e) => e.round === effects[0].round) ? effects[0].round : undefined)));
}

/* A Table 1 by site: figures down, sites across, and what they say together. */
function siteTableCard(effects) {
  const notes = effects.map((e) => e.note).filter((note, i, all) => note && all.indexOf(note) === i);
  const text = (e, v) => !known(v) ? "\u2013" : e.unit === "share" ? percent(v) : general(v, 4);
  const cell = (e, s) => el("td", {}, text(e, s.value), known(s.low) || known(s.high) ? [el("br"), el("small", {}, text(e, s.low) + " to " + text(e, s.high))] : []);
  const heads = sitesOf(effects[0]).map((s) => [s.site, el("br"), el("small", {}, fixed(s.records, 0) + " records")])
    .concat([["mean over sites"], ["I\u00b2"], ["p, all alike"]]);
  return el("figure", { class: "card wide" }, el("figcaption", {}, el("h3", {}, effects[0].table + ", by site")),
    el("div", { class: "scroll" }, el("table", { class: "table1" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), heads.map((parts) => el("th", { scope: "col" }, parts)))),
      el("tbody", {}, effects.map((e) => el("tr", {}, el("th", { scope: "row" }, e.row), sitesOf(e).map((s) => cell(e, s)), cell(e, e),
        el("td", {}, known(e.i_squared) ? written(e.i_squared, "percent", 0) : "\u2013"),
        el("td", {}, known(e.p) ? general(e.p, 2) : "\u2013")))))),
    el("p", {}, "All groups together. Below each figure: its 95 % interval, of sampling and noise. \u2013: not enough data, or not joined. "
      + notes.map((note) => upper(note) + ". ").join("") + priceText(effects[0].round)));
}

function forestCards() {
  const place = document.getElementById("forest-cards"), tables = new Map(), empty = [];
  if (!place) { return; }
  result.effects.slice(0, ROWS_MAX).forEach((effect) => {
    const key = effect.round + "\u0000" + effect.table;
    if (!effect.table && !sitesOf(effect).some((s) => known(s.value))) {
      empty.push(effect);
    } else if (!effect.table) {
      place.appendChild(forestCard(effect));
    } else if (tables.has(key)) {
      tables.get(key).push(effect);
    } else {
      tables.set(key, [effect]);
    }
  });
  tables.forEach((effects) => place.appendChild(siteTableCard(effects)));
  if (empty.length > 0) {
    place.appendChild(emptyCard(empty));
  }
}

forestCards();
const range = (s, low, high, digits) => known(s[low]) || known(s[high]) ? rangeText(s[low], s[high], digits) : "\u2013";
table("effects", columnsOf("effects", { low: { cell: (e) => range(e, "low", "high", 4) },
  next_low: { cell: (e) => range(e, "next_low", "next_high", 4) } }), result.effects || []);
table("sites", [{ key: "effect", label: "effect", format: "text" }].concat(columnsOf("sites", {
  low: { cell: (s) => range(s, "low", "high", 4) } })), result.sites || []);
