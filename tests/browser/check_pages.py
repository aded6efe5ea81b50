#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages that --html writes, in a browser: no error, no request, every figure drawn, tables sort,
light and dark, and on a phone.

    check_pages.py PROGRAM CHROMIUM [--screenshots FOLDER]

Pages that are broken on purpose show that the checks can fail. --screenshots also writes pictures of
the pages for the documentation."""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from devtools import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDE, PHONE = 1024, 360

# Everything that is asked of a page at once.
LOOK = r"""(function () {
  function rgb(text) { return (text.match(/[\d.]+/g) || []).map(Number); }
  function light(colour) {
    var c = colour.slice(0, 3).map(function (v) {
      v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  }
  var wrong = [];
  var back = getComputedStyle(document.body).backgroundColor;
  document.querySelectorAll("figure").forEach(function (figure, index) {
    var name = "figure " + index + " (" + (figure.querySelector("h3") || {}).textContent + ")";
    var svg = figure.querySelector("svg");
    if (!svg) { wrong.push(name + " has no picture"); return; }
    if (!(svg.getAttribute("aria-label") || "").trim()) wrong.push(name + " has no text for it");
    ["title", "desc"].forEach(function (tag) {
      var found = svg.querySelector(":scope > " + tag);
      if (!found || !found.textContent.trim()) wrong.push(name + " has no " + tag);
    });
    var caption = figure.querySelector("figcaption");
    if (!caption || !caption.textContent.trim()) wrong.push(name + " has no caption");
    var box = svg.getBoundingClientRect();
    var marks = svg.querySelectorAll(".mark");
    if (!marks.length) wrong.push(name + " draws nothing");
    function outside(r) {
      return r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 ||
             r.bottom > box.bottom + 2;
    }
    marks.forEach(function (mark) {
      var r = mark.getBoundingClientRect();
      var style = getComputedStyle(mark);
      var paint = style.fill === "none" ? style.stroke : style.fill;
      if (!(Math.max(r.width, r.height) > 0)) wrong.push(name + " has a mark without a size");
      if (outside(r)) wrong.push(name + " has a mark outside of it: " + mark.textContent);
      if (paint === "none" || paint === back) wrong.push(name + " has a mark that is not seen");
    });
    svg.querySelectorAll("text").forEach(function (text) {
      if (outside(text.getBoundingClientRect())) {
        wrong.push(name + " cuts the text '" + text.textContent + "'");
      }
    });
  });
  var a = light(rgb(back));
  var b = light(rgb(getComputedStyle(document.body).color));
  return { wrong: wrong, back: a, contrast: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
           figures: document.querySelectorAll("figure").length,
           over: document.documentElement.scrollWidth - window.innerWidth,
           tables: Array.prototype.map.call(document.querySelectorAll("table"), function (table) {
             return Array.prototype.map.call(table.tHead.rows[0].cells, function (head) {
               return { name: head.textContent, scope: head.scope,
                        numbers: head.classList.contains("n") };
             });
           }) };
})()"""

# Clicks on a heading; gives the column's texts in their new order, and what the heading says of it.
CLICK = r"""(function (t, c) {
  var table = document.querySelectorAll("table")[t];
  var head = table.tHead.rows[0].cells[c];
  var button = head.querySelector("button");
  if (button) button.click();
  return { sorted: head.getAttribute("aria-sort"),
           cells: Array.prototype.map.call(table.tBodies[0].rows, function (row) {
             return row.cells[c].textContent;
           }) };
})(%d, %d)"""

UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "k": 1e3, "M": 1e6, "G": 1e9,
         "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def number_of(text):
    """The number that a cell begins with, in its unit; None without one."""
    found = re.match(r"\s*([-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*([A-Za-z]*)", text)
    return float(found[1].replace(",", "")) * UNITS.get(found[2], 1.0) if found else None


def wrong_order(texts, said):
    """What is wrong with a column of numbers that was sorted; None where nothing is."""
    numbers = [number_of(text) for text in texts]
    known = [number for number in numbers if number is not None]
    if None in numbers[:len(known)]:
        return "what is no number does not come last"
    if said not in ("ascending", "descending"):
        return "does not say how it is sorted"
    if known != sorted(known, reverse=said == "descending"):
        return f"is not {said}: {texts}"
    return None


class Pages:
    """Looks at pages with one browser."""

    def __init__(self, browser):
        self.browser = browser

    def view(self, path, width, scheme):
        """Opens the page; returns what LOOK finds and what the browser complained of."""
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                          deviceScaleFactor=1, mobile=width == PHONE)
        self.browser.call("Emulation.setEmulatedMedia",
                          features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.browser.visit(path.as_uri())
        look = self.browser.value(LOOK)
        return look, self.complaints(path)

    def complaints(self, path):
        """Errors and warnings of the console, and requests for anything but the page."""
        found = []
        for event in self.browser.events:
            about = event.get("params", {})
            method = event.get("method")
            if method == "Runtime.exceptionThrown":
                found.append(f"script fails: {about['exceptionDetails'].get('text')}")
            elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning"):
                found.append(f"console: {about['args']}")
            elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {about['entry']['text']}")
            elif method == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if url != path.as_uri() and not url.startswith("data:"):
                    found.append(f"asks for {url}")
        return found

    def check(self, path):
        """Everything that is wrong with a page."""
        wrong = []
        for scheme, width in (("light", WIDE), ("dark", PHONE), ("light", PHONE), ("dark", WIDE)):
            look, complaints = self.view(path, width, scheme)
            told = look["wrong"] + complaints
            if look["over"] > 0:
                told.append(f"is {look['over']} pixels wider than the window")
            if look["contrast"] < 7.0:
                told.append(f"text has a contrast of {look['contrast']:.1f} only")
            if (look["back"] > 0.5) != (scheme == "light"):
                told.append("has the other scheme's background")
            if look["figures"] == 0:
                told.append("has no figure")
            wrong += [f"{scheme}, {width} wide: {line}" for line in told]
        return wrong + self.check_tables(look["tables"])

    def check_tables(self, tables):
        """Sorts by every column, twice."""
        wrong = []
        for t, heads in enumerate(tables):
            for c, head in enumerate(heads):
                if head["scope"] != "col":
                    wrong.append(f"table {t}: heading '{head['name']}' has no scope")
                before = sorted(self.browser.value(CLICK % (t, c))["cells"])
                after = self.browser.value(CLICK % (t, c))
                if sorted(after["cells"]) != before:
                    wrong.append(f"table {t}: sorting by '{head['name']}' changes its cells")
                if not after["sorted"]:
                    wrong.append(f"table {t}: '{head['name']}' does not sort")
                told = wrong_order(after["cells"], after["sorted"]) if head["numbers"] else None
                if told:
                    wrong.append(f"table {t}: '{head['name']}' {told}")
        return wrong


def write_pages(program, folder):
    """Paths of one page of each command."""
    def run(*words):
        done = subprocess.run([program, *words], cwd=ROOT, capture_output=True, text=True)
        # Status 1 of `profile`: a share of a peak that cannot be, on a busy machine.
        if done.returncode not in ((0, 1) if words[0] == "profile" else (0,)):
            sys.exit(f"{words}: status {done.returncode}\n{done.stderr}")

    pages = {name: folder / f"{name}.html" for name in ("plan", "probe", "profile", "reproduce", "train")}
    model = "models/lenet5.onnx"
    run("plan", model, "--why", "--html", str(pages["plan"]))
    run("probe", "--what", "all", "--quick", "--html", str(pages["probe"]))
    run("profile", model, "-n", "5", "--html", str(pages["profile"]))
    run("reproduce", "r17", "table-8.1", "figure-9.2", "--quick", "--html",
        str(pages["reproduce"]))
    run("train", "c18-mlp", "--data", "data/mnist", "--steps", "12", "--test-every", "6", "-o",
        str(folder / "trained"), "--html", str(pages["train"]))
    return pages


def spoilt(text):
    """Pages that are broken on purpose: what is done to one, and what must be found then."""
    yield text.replace('"mark ', '"'), "draws nothing"
    yield text.replace("</main>", '<div style="width:2000px">.</div></main>'), "wider than"
    yield text.replace("</main>", '<img src="http://localhost:9/a.png" alt=""></main>'), "log: "
    yield text.replace('"use strict";', 'throw new Error("no");', 1), "script fails"
    yield text.replace("order = a.value - b.value", "order = b.index - a.index"), "is not "
    yield text.replace("prefers-color-scheme: dark", "prefers-color-scheme: none"), "other scheme"
    yield re.sub(r"<desc>[^<]*</desc>", "", text), "has no desc"
    yield re.sub(r'(class="mark[^>]*) x="[^"]*"', r'\1 x="5000"', text), "outside of it"
    yield re.sub(r'(<text class="name end") x="[^"]*"', r'\1 x="3"', text), "cuts the text"


def check_checks(pages, good, folder):
    """What of the broken pages is not found."""
    missed = []
    text = good.read_text(encoding="utf-8")
    for number, (broken, wanted) in enumerate(spoilt(text)):
        path = folder / f"broken{number}.html"
        path.write_text(broken, encoding="utf-8")
        if broken == text:
            missed.append(f"'{wanted}': the page is not broken at all")
        elif not any(wanted in line for line in pages.check(path)):
            missed.append(f"'{wanted}' is not found in a page that is broken so")
    return missed


# Page, the figure's heading, and the picture's name.
SHOWN = [("profile", "Every kernel beside the device's peaks", "profile_roofline", "light"),
         ("profile", "The fastest run", "profile_timeline", "dark"),
         ("profile", "What lies where, and how long", "profile_memory", "light"),
         ("train", "Confusion matrix", "train_confusion", "light")]


def write_screenshots(pages, paths, folder):
    """Pictures for the documentation, 800 pixels wide."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, title, name, scheme in SHOWN:
        pages.view(paths[page], 800, scheme)
        box = pages.browser.value(
            "(function () { var r = Array.prototype.find.call(document.querySelectorAll('figure'),"
            f" function (f) {{ return f.querySelector('h3').textContent === {json.dumps(title)}; }})"
            ".getBoundingClientRect(); return [r.left, r.top + scrollY, r.width, r.height]; })()")
        picture = pages.browser.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True,
            clip={"x": 0, "y": box[1] - 8, "width": 800, "height": box[3] + 16, "scale": 1})
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("chromium")
    arguments.add_argument("--screenshots", type=pathlib.Path)
    options = arguments.parse_args()
    if shutil.which(options.chromium) is None:
        # As GoogleTest says it, which ./dev test counts; 77 is ctest's SKIP_RETURN_CODE.
        print(f"{__file__}:1: Skipped\nchromium is not installed: install Debian's package chromium, "
              "and configure again", flush=True)
        return 77
    with tempfile.TemporaryDirectory(prefix="morton_pages_") as name:
        folder = pathlib.Path(name)
        paths = write_pages(options.program, folder)
        profile = folder / "browser"
        profile.mkdir()
        browser = Browser(options.chromium, str(profile))
        try:
            pages = Pages(browser)
            wrong = [f"{page}: {line}" for page, path in paths.items()
                     for line in pages.check(path)]
            wrong += check_checks(pages, paths["plan"], folder)
            if options.screenshots:
                write_screenshots(pages, paths, options.screenshots)
        finally:
            browser.close()
    for line in wrong:
        print(line)
    print(f"{len(paths)} pages, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
