/* Correlations as a matrix: each two columns once, their correlation below the diagonal and its test's p-value above. */

/* The questions: [{question, round, names, at}], at: an answer by its two columns. */
function matricesOf(list) {
  const matrices = [];
  list.forEach((a) => {
    const isFirst = a.figure === "correlation", part = ": " + a.variable + " with " + a.group;
    let one = matrices[matrices.length - 1];
    if (isFirst && (!one || one.round !== a.round || one.question !== a.name.slice(0, -part.length))) {
      matrices.push(one = { question: a.name.slice(0, -part.length), round: a.round, names: [], at: new Map() });
    }
    if (!one) { return; }
    [a.variable, a.group].forEach((name) => { if (!one.names.includes(name)) { one.names.push(name); } });
    one.at.set(JSON.stringify([a.variable, a.group, a.figure]), a);
  });
  return matrices;
}

function matrixCell(one, row, column) {
  if (row === column) { return el("td", {}, "1"); }
  const [first, second] = row < column ? [row, column] : [column, row];
  const a = one.at.get(JSON.stringify([one.names[first], one.names[second], row < column ? "p-value" : "correlation"]));
  if (!a || !known(a.value)) { return el("td", { title: a && a.note ? a.note : null }, "\u2013"); }
  if (row < column) { return el("td", { class: "test" }, (a.value < 0.001 ? "p " : "p = ") + pValue(a.value)); }
  const below = [known(a.interval_low) ? fixed(a.interval_low, 2) + " to " + fixed(a.interval_high, 2) : "",
    known(a.exact) ? "exact " + fixed(a.exact, 2) : ""].filter((text) => text !== "");
  return el("td", {}, el("strong", {}, fixed(a.value, 2)), below.map((text) => [el("br"), el("small", {}, text)]));
}

function matrixCards() {
  const place = document.getElementById("matrix-cards");
  if (!place) { return; }
  matricesOf(paired).forEach((one) => {
    const pairs = [...one.at.values()], refused = pairs.find((a) => !known(a.value) && a.note);
    const how = pairs.find((a) => known(a.value) && a.figure === "correlation" && a.note);
    place.appendChild(el("figure", { class: "card wide" }, el("figcaption", {}, el("h3", {}, one.question)),
      el("div", { class: "scroll" }, el("table", { class: "matrix" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), one.names.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, one.names.map((name, i) => el("tr", {}, el("th", { scope: "row" }, name),
          one.names.map((other, j) => matrixCell(one, i, j))))))),
      el("p", {}, (how ? upper(how.note) + ". " : "") + priceText(one.round)),
      refused ? el("p", {}, "\u2013: " + refused.note + ".") : []));
  });
}

matrixCards();
