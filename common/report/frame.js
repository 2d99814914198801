/* What the pages of a report and of a study share. A page is its template and one block of data. Data become text of
 * the page (nodeValue, setAttribute) and never markup, whatever a site or a column is called. */
const ROWS_MAX = 1000; /* a page of 100,000 rows serves nobody; the JSON file has them all */
const known = (v) => typeof v === "number" && isFinite(v);
const printable = (text) => String(text).replace(/[\x00-\x1f\x7f]/g, "\ufffd");

/* As decimal_short of base/decimal.c. */
function general(v, digits) {
  if (!known(v)) { return "\u2013"; }
  const [mantissa, power] = v.toExponential(digits - 1).split("e").map(Number);
  if (power >= digits && Math.abs(v) < 1e15) { return v.toFixed(0); }
  if (v !== 0 && (power < -4 || power >= digits)) {
    return mantissa + "e" + (power < 0 ? "-" : "+") + String(Math.abs(power)).padStart(2, "0");
  }
  return String(Number(v.toFixed(Math.max(0, digits - 1 - power))));
}
/* A count of -0.3 is 0, not -0. */
function toPlaces(v, digits) {
  const text = v.toFixed(digits);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text;
}
/* A figure in the format that its row of result_fields.c names; null is not known, undefined has no place here. */
function written(v, format, digits) {
  if (v === undefined) { return ""; }
  if (format === "text") { return v === null ? "" : String(v); }
  if (!known(v)) { return "\u2013"; }
  if (format === "count") { return toPlaces(v, 0); }
  if (format === "percent") { return toPlaces(100 * v, digits) + "%"; }
  return format === "fixed" ? toPlaces(v, digits) : general(v, digits);
}
const fixed = (v, digits) => written(v, "fixed", digits);
const percent = (v) => written(v, "percent", 1);
/* A candidate's latest weight, and how far the noise may have moved it. "100.0% (0.0% to 100.0%)" would tell nobody that noise alone
 * may have made it so. */
const WEIGHT_OPEN = 0.9;
function weightText(v, e) {
  if (!known(v) || !known(e.weight_low) || !known(e.weight_high)) { return percent(v); }
  const low = percent(e.weight_low), high = percent(e.weight_high);
  return percent(v) + (e.weight_high - e.weight_low > WEIGHT_OPEN ? " (it may be the noise alone)"
    : low === high ? " (the same without noise)" : " (" + low + " to " + high + ")");
}
/* As papers print a p-value. */
const pValue = (v) => known(v) && v < 0.001 ? "< 0.001" : fixed(v, 3);

/* An element with its attributes (null: none) and children: texts, elements, lists of them. */
function el(name, attributes, ...children) {
  const svg = ["svg", "rect", "circle", "path", "line", "text"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  Object.entries(attributes || {}).forEach(([key, value]) => {
    if (value !== null) { element.setAttribute(key, value); }
  });
  children.flat(3).forEach((child) => element.appendChild(
    typeof child === "object" ? child : document.createTextNode(printable(child))));
  return element;
}

/* Fills the template from facts: "" and false do not hold, everything else does. */
function fill(facts) {
  const page = document.getElementById("page");
  page.querySelectorAll("[data-if]").forEach((element) => {
    const holds = element.getAttribute("data-if").split(" ").every((word) => {
      const name = word.replace("!", "");
      if (!(name in facts)) { throw new Error("no fact " + name); }
      return (facts[name] !== false && facts[name] !== "") === (name === word);
    });
    if (!holds) {
      element.remove();
    } else if (element.tagName === "SPAN" && !element.className) {
      element.replaceWith(...element.childNodes);
    }
    element.removeAttribute("data-if");
  });
  page.normalize();
  const texts = (node) => node.childNodes.forEach((child) => {
    if (child.nodeType === Node.TEXT_NODE) {
      child.nodeValue = child.nodeValue.replace(/\{(\w+)\}/g, (all, name) => {
        if (!(name in facts)) { throw new Error("no fact " + name); }
        return printable(facts[name]);
      });
    } else {
      texts(child);
    }
  });
  texts(page);
}

/* Rows into a template's table. columns: {key, label, format, digits}, maybe cell, a function from a row and its index to
 * what stands in the cell; style, the cells' class; tag, for "simulator only". A row's style is its class. more: rows that stand
 * below however many there are. */
function table(id, columns, rows, more = []) {
  const place = document.getElementById(id);
  if (!place) { return; }
  const style = (c, i) => c.style || (c.format === "text" && i > 0 ? "text" : null);
  place.appendChild(el("thead", {}, el("tr", {}, columns.map((c, i) => el("th", { scope: "col", class: style(c, i) },
    c.label, c.tag ? [" ", el("span", { class: "tag" }, "simulator only")] : [])))));
  place.appendChild(el("tbody", {}, rows.slice(0, ROWS_MAX).concat(more).map((row, at) => el("tr", { class: row.style || null },
    columns.map((c, i) => el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: style(c, i) },
      c.cell ? c.cell(row, at) : written(row[c.key], c.format, c.digits)))))));
  if (rows.length > ROWS_MAX) {
    place.parentElement.after(el("p", {}, "The first " + ROWS_MAX + " of " + rows.length + "; result.json has all."));
  }
}

/* Shows the page, which is hidden until it is whole, in place of its data, and has draw draw: again when the colours
 * change, and for paper, where details are open. */
function present(title, draw) {
  const details = () => document.querySelectorAll("details");
  document.title = title;
  document.getElementById("page").removeAttribute("hidden");
  document.getElementById("data").setAttribute("hidden", "");
  draw(false);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(false));
  window.addEventListener("beforeprint", () => {
    draw(true);
    details().forEach((d) => { d.dataset.was = d.open ? "1" : ""; d.open = true; });
  });
  window.addEventListener("afterprint", () => {
    draw(false);
    details().forEach((d) => { d.open = d.dataset.was === "1"; });
  });
}
