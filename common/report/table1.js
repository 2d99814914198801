/* A paper's Table 1: figures down, groups across, each with its interval below. Plain cells, so that the table can be
 * copied into a text. */

/* The tables: [{question, groups, rows: [{variable, figure, cells}]}], cells by group. */
function tablesOf(list) {
  const tables = [];
  list.filter((a) => a.table).forEach((a) => {
    let one = tables[tables.length - 1];
    if (!one || one.question !== a.table || one.round !== a.round) {
      tables.push(one = { question: a.table, round: a.round, groups: [], rows: [], at: new Map() });
    }
    const group = a.group || "", key = (a.variable || "") + "\u0000" + a.figure;
    if (!one.groups.includes(group)) { one.groups.push(group); }
    let row = one.at.get(key);
    if (!row) { one.rows.push(row = { variable: a.variable || "", figure: a.figure, cells: {} }); one.at.set(key, row); }
    row.cells[group] = a;
  });
  return tables;
}

/* As papers write them: a mean with its deviation, a median with its quartiles, a count with its share. */
const PAIRS = [["mean", "standard deviation", "mean (SD)"], ["median", "lower quartile", "median [quartiles]"]];

/* Noise makes a count that is hardly above none less than 0. */
function figureText(a, digits) {
  if (!a || !known(a.value)) { return "\u2013"; }
  return a.unit === "records" ? fixed(Math.max(a.value, 0), 0) : a.unit === "share" ? percent(a.value) : a.unit === "p-value" ? pValue(a.value) : general(a.value, digits);
}
function intervalText(a) {
  const low = a.unit === "records" ? a.low : a.interval_low, high = a.unit === "records" ? a.high : a.interval_high;
  return known(a.value) && known(low) && known(high)
    ? figureText(Object.assign({}, a, { value: low }), 4) + " to " + figureText(Object.assign({}, a, { value: high }), 4) : "";
}

/* The lines of one variable: [label, [rows' figures], how they are joined]. */
function linesOf(one, variable) {
  const rows = one.rows.filter((r) => r.variable === variable), find = (f) => rows.find((r) => r.figure === f);
  if (find("mean")) {
    return [[PAIRS[0][2], [find("mean"), find("standard deviation")], (t) => t[0] + " (" + t[1] + ")"],
      [PAIRS[1][2], [find("median"), find("lower quartile"), find("upper quartile")],
        (t) => t[0] + " [" + t[1] + ", " + t[2] + "]"], ["missing", [find("missing")], (t) => t[0]]];
  }
  return rows.filter((r) => !r.figure.endsWith(", share")).map((r) => [r.figure, [r, find(r.figure + ", share")].filter(Boolean),
    (t) => t.length > 1 ? t[0] + " (" + t[1] + ")" : t[0]]);
}

function tableCell(line, group) {
  const cells = line[1].filter(Boolean).map((r) => r.cells[group]).filter(Boolean);
  const refused = cells.filter((a) => !known(a.value));
  const note = refused.length > 0 ? refused[0].note || "" : "";
  const below = cells.map(intervalText).filter((text) => text !== "");
  return el("td", { title: note || null }, cells.length === refused.length ? "\u2013" : line[2](cells.map((a) => figureText(a, 4))),
    below.length > 0 ? [el("br"), el("small", {}, below.join("; "))] : [],
    refused.length > 0 ? [el("br"), el("small", {}, "not enough data")] : []);
}

/* The table's cells as texts, one line a figure: each group's value and interval. */
function textsOf(one) {
  const head = ["", ""].concat(one.groups.flatMap((g) => [g || "all", "95 % interval"]));
  return [head].concat(one.rows.map((row) => [row.variable, row.figure].concat(one.groups.flatMap((g) => {
    const a = row.cells[g];
    return [figureText(a, 4), a ? intervalText(a) : ""];
  }))));
}
const inHtml = (t) => t.replace(/[&<>]/g, (c) => "&#" + c.charCodeAt(0) + ";");
const inMarkdown = (t) => inHtml(t.replace(/[\\|*_`[\]]/g, "\\$&"));
/* A spreadsheet would compute what begins like a formula. */
const inCsv = (t) => "\"" + (/^[=+@-]/.test(t) && isNaN(Number(t)) ? "'" : "") + t.replace(/"/g, "\"\"") + "\"";
const GREEK = { "\u03b5": "$\\varepsilon$", "\u03b4": "$\\delta$", "\u2019": "'", "\u2013": "--" };
/* By name: LaTeX's own fonts have other signs in these places. */
const NAMED = { "\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar" };
const inLatex = (t) => t.replace(/[\\{}$&#^_%~<>|]/g, (c) => NAMED[c] ? "\\text" + NAMED[c] + "{}" : "\\" + c)
  .replace(/[\u03b5\u03b4\u2019\u2013]/g, (c) => GREEK[c]);

/* Each makes lines of a table's cells and of what stands below it. */
const FORMATS = [
  ["Markdown", (texts, below) => texts.flatMap((line, i) => ["| " + line.map(inMarkdown).join(" | ") + " |"]
    .concat(i === 0 ? ["|" + line.map((t, j) => j < 2 ? "---|" : "---:|").join("")] : [])).concat("", inMarkdown(below))],
  ["HTML", (texts, below) => ["<table>", "<caption>" + inHtml(below) + "</caption>"].concat(texts.map((line, i) =>
    "<tr>" + line.map((t, j) => i === 0 || j < 2 ? "<th>" + inHtml(t) + "</th>" : "<td>" + inHtml(t) + "</td>").join("") + "</tr>"), "</table>")],
  ["CSV", (texts, below) => texts.concat([[below]]).map((line) => line.map(inCsv).join(","))],
  ["LaTeX", (texts, below) => ["\\begin{tabular}{ll" + "r".repeat(texts[0].length - 2) + "}"].concat(
    texts.map((line) => line.map(inLatex).join(" & ") + " \\\\"), "\\end{tabular}", "", inLatex(below))]
];

/* For a text: a click marks all of it. What it costs goes with it. */
function copies(one) {
  const texts = textsOf(one), price = one.question + ". Intervals are of sampling and noise, of counts of the noise. " + priceText(one.round);
  return el("details", { class: "copies" }, el("summary", {}, "Copy as Markdown, HTML, CSV or LaTeX"),
    FORMATS.map((format) => [el("p", {}, format[0]), el("div", { class: "copy" }, format[1](texts, price).map((line) => el("div", {}, line)))]));
}

/* Each note once, with the first of the figures that it is of: a few, and the others behind a click. */
function notes(list, question) {
  const of = new Map();
  list.forEach((a) => of.set(a.note, (of.get(a.note) || []).concat(a.name.slice(question.length + 2))));
  const texts = [...of].map(([note, names]) => names[0] + (names.length > 1 ? " and " + (names.length - 1) + " more" : "") + ": " + note + "."), rest = texts.slice(3);
  return texts.length === 0 ? [] : [texts.slice(0, 3).map((text) => el("p", {}, text)),
    rest.length > 0 ? el("details", {}, el("summary", {}, "And " + rest.length + " more"), rest.map((text) => el("p", {}, text))) : []];
}

function tableCards() {
  const place = document.getElementById("table-cards");
  if (!place) { return; }
  tablesOf(answers).forEach((one) => {
    const variables = [...new Set(one.rows.map((r) => r.variable))].filter((v) => v !== "");
    const noted = answers.filter((a) => a.table === one.question && a.round === one.round && a.note);
    const row = (label, line, style) => el("tr", {}, el("th", { scope: "row", class: style }, label),
      one.groups.map((group) => tableCell(line, group)));
    const size = one.rows.find((r) => r.variable === "");
    place.appendChild(el("figure", { class: "card wide" }, el("figcaption", {}, el("h3", {}, one.question)),
      el("div", { class: "scroll" }, el("table", { class: "table1" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), one.groups.map((g) => el("th", { scope: "col" }, g || "all")))),
        el("tbody", {}, size ? row("records", ["records", [size], (t) => t[0]], null) : [],
          variables.map((variable) => [el("tr", { class: "variable" }, el("th", { scope: "rowgroup", colspan: one.groups.length + 1 }, variable)),
            linesOf(one, variable).map((line) => row(line[0], line, "within"))])))),
      el("p", {}, "Below each figure: its 95 % interval, of sampling and noise; of counts, of the noise alone. " + priceText(one.round)),
      copies(one),
      notes(noted, one.question)));
  });
}

tableCards();
