// SPDX-License-Identifier: Apache-2.0
#include "pages/assets.hpp"

namespace morton::cli::pages {

const char* style_sheet() {
  return R"css(:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1c1e21; --faint: #5b626b; --rule: #d9dde2; --soft: #f3f5f7;
  --link: #0b57a4; --on: #ffffff;
  --c0: #2565ae; --c1: #c4501b; --c2: #217a4b; --c3: #9c2f80;
  --c4: #7a6200; --c5: #00727c; --c6: #6a4bbd; --c7: #5f6772;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15171a; --text: #e4e7ea; --faint: #a0a8b1; --rule: #363b42; --soft: #1f2226;
    --link: #7db7f2; --on: #101214;
    --c0: #6aa9ee; --c1: #f0925f; --c2: #62c08d; --c3: #df82c6;
    --c4: #cdb04a; --c5: #4fc3cc; --c6: #ae97f2; --c7: #a3acb8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 64rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
p { max-width: 46rem; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875em; }
code { background: var(--soft); padding: .1em .3em; border-radius: 3px; }
pre { overflow-x: auto; padding: .7rem; background: var(--soft); overflow-wrap: normal; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: .5rem 1.5rem; margin: 1rem 0; }
dt { color: var(--faint); font-size: .85rem; }
dd { margin: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: 0; padding: 0; list-style: none; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .875rem; overflow-wrap: normal; margin: .4rem 0 1rem; }
caption { text-align: left; color: var(--faint); padding: .3rem 0; }
th, td { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid var(--rule); vertical-align: top; }
thead th { background: var(--soft); white-space: nowrap; }
tbody th { font-weight: 500; max-width: 22rem; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
th[aria-sort=ascending] button::after { content: " \25B2"; }
th[aria-sort=descending] button::after { content: " \25BC"; }
figure { margin: 1.2rem 0; padding: .8rem; border: 1px solid var(--rule); border-radius: 6px; }
figcaption { color: var(--faint); font-size: .9rem; max-width: 46rem; }
.chart svg { display: block; width: 100%; height: auto; font: 12px system-ui, "DejaVu Sans", sans-serif; }
details { margin: .6rem 0; }
summary { cursor: pointer; }
footer { margin-top: 3rem; color: var(--faint); font-size: .85rem; }
svg text { fill: var(--text); }
svg .tick { fill: var(--faint); font-size: 11px; }
svg .label { fill: var(--faint); }
svg .on { fill: var(--on); }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .grid { stroke: var(--rule); }
svg .axis { stroke: var(--faint); }
svg .cell { fill: none; stroke: var(--rule); }
svg .padding { fill: var(--rule); stroke: var(--rule); }
svg .path { fill: none; stroke: var(--c0); stroke-width: 2; stroke-linejoin: round; opacity: .7; }
svg .begin { fill: var(--c0); }
svg .place { text-anchor: middle; dominant-baseline: central; font-size: 11px; }
svg .solid { fill: var(--back); }
svg .edge { fill: none; stroke: var(--faint); stroke-width: 1.3; }
svg .head { fill: var(--faint); }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.f0 { fill: var(--c0); } .f1 { fill: var(--c1); } .f2 { fill: var(--c2); } .f3 { fill: var(--c3); }
.f4 { fill: var(--c4); } .f5 { fill: var(--c5); } .f6 { fill: var(--c6); } .f7 { fill: var(--c7); }
.l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); stroke-dasharray: 7 3; }
.l2 { stroke: var(--c2); stroke-dasharray: 2 3; } .l3 { stroke: var(--c3); stroke-dasharray: 9 3 2 3; }
.l4 { stroke: var(--c4); } .l5 { stroke: var(--c5); stroke-dasharray: 7 3; }
.l6 { stroke: var(--c6); stroke-dasharray: 2 3; } .l7 { stroke: var(--c7); stroke-dasharray: 9 3 2 3; }
@media print { .scroll { overflow: visible; } details, figure { break-inside: avoid; } }
)css";
}

const char* script() {
  return R"js("use strict";
(function () {
  var units = { KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776,
                k: 1e3, M: 1e6, G: 1e9, ns: 1e-3, us: 1, ms: 1e3, s: 1e6 };
  function number(text) {
    var found = /^\s*([-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([A-Za-z]*)/.exec(text);
    if (!found) return NaN;
    return parseFloat(found[1].replace(/,/g, "")) * (units[found[2]] || 1);
  }
  function sort(table, column, numeric, down) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows).map(function (row, index) {
      var text = row.cells[column] ? row.cells[column].textContent : "";
      return { row: row, index: index, text: text, value: numeric ? number(text) : 0 };
    });
    rows.sort(function (a, b) {
      var order;
      if (numeric) {
        // What is no number stays last, whichever way the column goes.
        if (isNaN(a.value) || isNaN(b.value)) {
          return (isNaN(a.value) - isNaN(b.value)) || a.index - b.index;
        }
        order = a.value - b.value;
      } else {
        order = a.text.localeCompare(b.text, "en", { numeric: true });
      }
      return (down ? -order : order) || a.index - b.index;
    });
    rows.forEach(function (entry) { body.appendChild(entry.row); });
  }
  document.querySelectorAll("table.sort").forEach(function (table) {
    var heads = table.tHead.rows[0].cells;
    Array.prototype.forEach.call(heads, function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        var numeric = head.classList.contains("n");
        var was = head.getAttribute("aria-sort");
        // Of numbers the greatest are asked for first.
        var down = was ? was === "ascending" : numeric;
        Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, column, numeric, down);
      });
    });
  });
})();
)js";
}

}  // namespace morton::cli::pages
