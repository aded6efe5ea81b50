# SPDX-License-Identifier: Apache-2.0
"""The links between the files of a site."""

import html.parser
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors of a page and what it leads to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.targets = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(v for k, v in attributes if k == "id" or (k == "name" and tag == "a"))
        for key in ("href", "src"):
            if values.get(key):
                self.targets.add(values[key])


def dead_links(root):
    """(page, what is wrong) of all links between the files of a site."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links begin at the site's root, wherever that will be
        for target in sorted(page.targets):
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if to.is_dir():
                to = to / "index.html"
            if not to.is_file():
                yield path, f"dead link: {target}"
            elif parts.fragment and to in pages and parts.fragment not in pages[to].anchors and \
                    not parts.fragment.startswith("__"):
                yield path, f"no such section: {target}"
