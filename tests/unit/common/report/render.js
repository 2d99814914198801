/* node render.js PAGE.html - what a page shows once its scripts ran, as HTML on standard output: its title, and the elements that
 * a reader sees. A chart's settings stand in its canvas as data-drawn. There is just enough of a browser here to run the
 * pages of common/report; what they should not use throws. Fails when a script is not admitted by the page's own policy,
 * when one throws, and when the page stays hidden. */
"use strict";
const fs = require("fs"), crypto = require("crypto"), vm = require("vm");
const VOID = ["meta", "br", "link", "img", "input"], RAW = ["script", "style", "title"];

class Text {
  constructor(text) { this.nodeType = 3; this.nodeValue = text; }
  html() { return escaped(this.nodeValue.replace(/\s+/g, " ")); }
}
class Element {
  constructor(tag) {
    Object.assign(this, { nodeType: 1, tagName: tag, attributes: {}, childNodes: [], style: {}, dataset: {}, open: false,
      clientWidth: 800, clientHeight: 300 });
  }
  get className() { return this.attributes.class || ""; }
  get classList() { return { contains: (name) => this.className.split(" ").includes(name) }; }
  get all() { return this.childNodes.flatMap((n) => n.nodeType === 1 ? [n, ...n.all] : []); }
  set innerHTML(v) { throw new Error("markup from a script"); }
  set outerHTML(v) { throw new Error("markup from a script"); }
  getAttribute(name) { return name in this.attributes ? this.attributes[name] : null; }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  removeAttribute(name) { delete this.attributes[name]; }
  appendChild(node) { node.parentElement = this; this.childNodes.push(node); return node; }
  replaceWith(...nodes) {
    const list = this.parentElement.childNodes;
    nodes.forEach((n) => { n.parentElement = this.parentElement; });
    list.splice(list.indexOf(this), 1, ...nodes);
  }
  remove() { this.replaceWith(); }
  after(node) { this.replaceWith(this, node); }
  closest(selector) {
    for (let at = this; at; at = at.parentElement) { if (at.classList.contains(selector.slice(1))) { return at; } }
    return null;
  }
  querySelectorAll(selector) {
    return this.all.filter((e) => selector === "[data-if]" ? "data-if" in e.attributes : e.tagName === selector.toUpperCase());
  }
  normalize() {
    this.childNodes = this.childNodes.reduce((list, n) => {
      const last = list[list.length - 1];
      if (n.nodeType === 3 && last && last.nodeType === 3) { last.nodeValue += n.nodeValue; } else { list.push(n); }
      return list;
    }, []);
    this.childNodes.forEach((n) => n.nodeType === 1 && n.normalize());
  }
  get textContent() { return this.childNodes.map((n) => n.nodeType === 3 ? n.nodeValue : n.textContent).join(""); }
  html() {
    const name = this.tagName.toLowerCase(), quoted = (v) => escaped(v).replace(/"/g, "&quot;");
    const attributes = Object.entries(this.attributes).map(([k, v]) => ` ${k}="${quoted(v)}"`).join("");
    return `<${name}${attributes}>` + (VOID.includes(name) ? "" : this.childNodes.map((n) => n.html()).join("") + `</${name}>`);
  }
}
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function parsed(html) {
  const root = new Element("ROOT"), token = /<!--[\s\S]*?-->|<!DOCTYPE[^>]*>|<\/([a-z0-9]+)>|<([a-z0-9]+)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>|[^<]+/gi;
  let at = root, match, end = 0;
  while ((match = token.exec(html)) !== null) {
    if (match.index !== end) { throw new Error("not understood: " + html.slice(end, end + 60)); }
    if (match[1]) {
      if (at.tagName !== match[1].toUpperCase()) { throw new Error(`</${match[1]}> within <${at.tagName}>`); }
      at = at.parentElement;
    } else if (match[2]) {
      const element = at.appendChild(new Element(match[2].toUpperCase()));
      for (const [, name, value] of match[3].matchAll(/([a-z-]+)(?:="([^"]*)")?/gi)) { element.setAttribute(name, value || ""); }
      if (RAW.includes(match[2])) {
        const close = html.indexOf(`</${match[2]}`, token.lastIndex);
        element.appendChild(new Text(html.slice(token.lastIndex, close)));
        token.lastIndex = close + match[2].length + 3;
      } else if (!VOID.includes(match[2])) {
        at = element;
      }
    } else if (match[0][1] !== "!") {
      at.appendChild(new Text(match[0]));
    }
    end = token.lastIndex;
  }
  return root;
}

const root = parsed(fs.readFileSync(process.argv[2], "utf8"));
const find = (id) => root.all.find((e) => e.attributes.id === id) || null;
const policy = root.all.find((e) => e.attributes["http-equiv"] === "Content-Security-Policy").attributes.content;
const scripts = root.querySelectorAll("script").filter((e) => !e.attributes.type);
for (const element of [...scripts, ...root.querySelectorAll("style")]) {
  const hash = crypto.createHash("sha256").update(element.textContent).digest("base64");
  if (!policy.includes(`'sha256-${hash}'`)) { throw new Error("the page's policy forbids its own " + element.tagName); }
}
const listeners = {}, events = { addEventListener: (name, call) => { listeners[name] = call; } };
let drawn = 0;
class Chart {
  constructor(canvas, config) { canvas.setAttribute("data-drawn", JSON.stringify(config)); drawn++; }
  destroy() { drawn--; }
}
Chart.defaults = { font: {} };
const document = { documentElement: root, body: root, title: "", getElementById: find,
  querySelectorAll: (s) => root.querySelectorAll(s), createTextNode: (t) => new Text(t),
  createElement: (name) => new Element(name.toUpperCase()), createElementNS: (ns, name) => new Element(name) };
vm.runInNewContext(scripts[scripts.length - 1].textContent, { document, Chart, Node: { TEXT_NODE: 3 },
  window: Object.assign({ matchMedia: () => ({ matches: false, addEventListener: () => {} }) }, events),
  getComputedStyle: () => ({ fontFamily: "serif", getPropertyValue: () => "" }) });
const page = find("page"), count = drawn;
if ("hidden" in page.attributes || !("hidden" in find("data").attributes)) { throw new Error("the page stays hidden"); }
listeners.beforeprint();
if (root.querySelectorAll("details").some((d) => !d.open) || drawn !== count) { throw new Error("paper does not have all"); }
listeners.afterprint();
if (root.querySelectorAll("details").some((d) => d.open) || drawn !== count) { throw new Error("paper leaves its traces"); }
process.stdout.write(`<title>${escaped(document.title)}</title>\n${page.html()}\n`);
