#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site that ./dev site builds, in a browser: no dead link, no error, no request to elsewhere,
readable on a phone, and a search that finds.

    check_site.py FOLDER CHROMIUM

Pages that are broken on purpose show that the checks can fail."""

import functools
import http.server
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import urllib.parse

from devtools import Browser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/site"))
from links import dead_links  # noqa: E402

WIDE, PHONE = 1280, 390
SMALLEST = 14

# What is wrong with a page as it is drawn: too wide, or letters too small to read.
LOOK = r"""(function () {
  var small = {}, wide = [];
  var walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    var node = walker.currentNode, element = node.parentElement;
    if (!node.textContent.trim() || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(element.tagName)) continue;
    var box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!box.width || !box.height || style.visibility === "hidden" || style.opacity === "0") continue;
    var size = parseFloat(style.fontSize);
    if (size < %d) small[size + " px: " + element.tagName + " " + node.textContent.trim().slice(0, 30)] = 1;
  }
  var width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    document.querySelectorAll("main *, body > *").forEach(function (element) {
      var box = element.getBoundingClientRect();
      if (box.right > width + 1 && wide.length < 3) wide.push(element.tagName + " " + element.className);
    });
  }
  return { small: Object.keys(small).slice(0, 5), wide: wide,
           over: document.documentElement.scrollWidth - width,
           letters: document.body.textContent.trim().length };
})()""" % SMALLEST

# What the search shows for the words in the address, as it stands.
FOUND = """Array.prototype.map.call(document.querySelectorAll("a.md-search-result__link"),
           function (link) { return link.getAttribute("href"); })"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Served:
    """A folder as a file server gives it. `address` ends in a slash."""

    def __init__(self, root):
        handler = functools.partial(Quiet, directory=str(root))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()


class Views:
    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def complaints(self):
        """Errors of the console and of requests since the last visit."""
        for event in self.browser.events:
            about, method = event.get("params", {}), event.get("method")
            if method == "Runtime.exceptionThrown":
                yield f"script fails: {about['exceptionDetails'].get('text')}"
            elif method == "Runtime.consoleAPICalled" and about["type"] == "error":
                yield f"console: {about['args']}"
            elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
                yield f"log: {about['entry']['text']} {about['entry'].get('url', '')}"
            elif method == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if not url.startswith((self.address, "data:", "blob:")):
                    yield f"asks for {url}"

    def check(self, name, width):
        """What is wrong with a page at this width."""
        self.browser.call("Emulation.setDeviceMetricsOverride", width=width, height=844,
                          deviceScaleFactor=1, mobile=False)
        self.browser.visit(self.address + name)
        look = self.browser.value(LOOK)
        wrong = list(self.complaints())
        if look["over"] > 0:
            wrong.append(f"is {look['over']} px too wide: {', '.join(look['wide'])}")
        if look["letters"] < 20:
            wrong.append("is empty")
        if width == PHONE:
            wrong += [f"letters of {small}" for small in look["small"]]
        return [f"{name} ({width} px): {line}" for line in wrong]

    def search(self, words, seconds=20.0):
        """The addresses that the search finds within this time."""
        self.browser.visit(self.address + "index.html?q=" + urllib.parse.quote(words))
        end = time.monotonic() + seconds
        found = []
        while not found and time.monotonic() < end:
            time.sleep(0.1)
            found = self.browser.value(FOUND)
        return found


def check_search(views):
    """What the search must find: words and the page that must be among the first five."""
    wrong = []
    for words, page in (("quantize", "docs/quantization.html"), ("morton_session_run", "reference/c/session.html"),
                        ("InferenceSession", "reference/python/morton.html"), ("glossary", "docs/glossary.html")):
        found = views.search(words)
        if not any(page in address for address in found[:5]):
            wrong.append(f"search: '{words}' does not find {page}, but {found[:5]}")
    if views.search("zyzzyva", 4.0):
        wrong.append("search: finds what is not there")
    return wrong


def spoilt(text):
    """Pages that are broken on purpose: what is done to one, and what must be found then."""
    end = "</body>"
    yield text.replace(end, '<img src="none.png" alt="">' + end), "dead link"
    yield text.replace(end, '<a href="index.html#nowhere">x</a>' + end), "no such section"
    yield text.replace(end, '<div style="width:500px">wide</div>' + end), "too wide"
    yield text.replace(end, '<p style="font-size:12px">small</p>' + end), "letters of 12 px"
    yield text.replace(end, '<img src="http://127.0.0.2:9/a.png" alt="">' + end), "asks for"
    yield text.replace(end, "<script>throw new Error('no')</script>" + end), "script fails"


def check_checks(root, browser):
    """What of the broken pages is not found, in a copy of the site."""
    with tempfile.TemporaryDirectory(prefix="morton_site_") as name:
        copy = pathlib.Path(name) / "html"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns("source", "reference", "docs", "examples"))
        text = (copy / "index.html").read_text(encoding="utf-8")
        served = Served(copy)
        views = Views(browser, served.address)
        for number, (broken, wanted) in enumerate(spoilt(text)):
            page = copy / f"broken{number}.html"
            page.write_text(broken, encoding="utf-8")
            told = views.check(page.name, PHONE)
            told += [line for path, line in dead_links(copy) if path == page and
                     ("none.png" in line or "nowhere" in line)]
            if not any(wanted in line for line in told):
                yield f"'{wanted}' is not found in a page that is broken so"
        served.close()


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    wrong = [f"{path.relative_to(root)}: {line}" for path, line in dead_links(root)]
    names = [str(path.relative_to(root)) for path in sorted(root.rglob("*.html")) if path.name != "404.html"]
    if len(names) < 50:
        wrong.append(f"{root} has {len(names)} pages")
    wrong += look_at(root, names, sys.argv[2])
    for line in wrong:
        print(line)
    print(f"{len(names)} pages, {len(wrong)} problems")
    return 1 if wrong else 0


def look_at(root, names, chromium):
    """What is wrong with the pages in a browser."""
    if shutil.which(chromium) is None:
        sys.exit(f"there is no {chromium}; Debian's package chromium has the browser")
    wrong = []
    served = Served(root)
    with tempfile.TemporaryDirectory(prefix="morton_browser_") as profile:
        browser = Browser(chromium, profile)
        try:
            views = Views(browser, served.address)
            for name in names:
                wrong += views.check(name, PHONE)
                if not name.startswith("source/"):
                    wrong += views.check(name, WIDE)
            wrong += check_search(views)
            wrong += check_checks(root, browser)
        finally:
            browser.close()
    served.close()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
