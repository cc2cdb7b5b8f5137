# SPDX-License-Identifier: BSD-2-Clause
"""report_chromium.py TAMIS: the page of `tamis report` in a browser.

Headless Chromium, which resolves no name, loads the page of a store of every sort of filter, on a phone, a
tablet and a screen, light and dark: nothing is told on its console, the figures of its document are those
of `info --json` and `generations --json`, as people write them, no text lies on another, is cut off or too
small, states are in sight, sorting and finding do what they say, by the keyboard too.  accessible.js has the
rules for those who do not see the page.  Where no script may run, a plain table stands in its place.
With $TAMIS_SCREENSHOTS the pictures are left in that directory, to be looked at.

Seen to fail: names in the order of bytes, all columns on a phone, labels of 12 of 480 units, --quiet of the style
at #999, the table of generations without tabindex, an svg without aria-label, a whole map for an empty filter,
dark colours in print, headings that only a mouse can press; in page.js names that are not escaped, shares of
1000, small rates in per cent, "1 items", slices that the window has left behind drawn as live, levels of the map
that are rounded up, generations from the oldest on, the plain table left beside what is drawn; in the data one
digit of a fill, and a curve that counts the items of slices that the window has left behind.
"""
import html.parser
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from chromium import Chromium
from command import Tamis, finish, same

HOSTILE = "</script><script>alert(1)</script>\"onload='x'& <b>x"
NAMES = [HOSTILE, "black", "empty", "exact", "forgotten", "grown", "größe 漢字", "listed", "long" * 60, "over", "recent-2",
         "recent-10", "refuses", "two\u2028lines"]  # in the order in which they are shown
IN_TROUBLE = [("over", "over"), ("refuses", "full")]
WIDTHS = (390, 768, 1280)

LAYOUT = """
(function () {
  var wrong = [];
  function say(what, element) { wrong.push(what + ': ' + element.textContent.slice(0, 60)); }
  function box(element) { return element.getBoundingClientRect(); }
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
  document.querySelectorAll('svg').forEach(function (svg) {
    var texts = Array.from(svg.querySelectorAll('text')), frame = box(svg);
    var scale = frame.width / svg.viewBox.baseVal.width;
    texts.forEach(function (text, i) {
      var a = box(text);
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.bottom > frame.bottom + 1)
        say('cut off', text);
      if (parseFloat(getComputedStyle(text).fontSize) * scale < 11) say('too small', text);
      texts.slice(0, i).forEach(function (other) {
        var b = box(other);
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          say('on another', text);
      });
    });
    svg.querySelectorAll('circle,rect').forEach(function (dot) {
      var c = box(dot);
      if (c.left < frame.left - 1 || c.right > frame.right + 1 || c.top < frame.top - 1 ||
          c.bottom > frame.bottom + 1)
        say('dot cut off', svg);
    });
    if (svg.classList.contains('heat') && !/[1-9]/.test(svg.dataset.fill) && frame.height > 30)
      wrong.push('a grey block of ' + frame.height);
  });
  document.querySelectorAll('.tile, figcaption, .note, dd, h2, li').forEach(function (element) {
    if (element.scrollWidth > element.clientWidth + 1) say('too wide', element);
  });
  document.querySelectorAll('.scroll, .wide').forEach(function (element) {
    if (element.scrollWidth > element.clientWidth + 1) say('to be scrolled', element);
  });
  document.querySelectorAll('#catalog .badge').forEach(function (element) {
    var b = box(element);
    if (b.width === 0 || b.right > innerWidth) say('state out of sight', element.closest('tr'));
  });
  return wrong;
})()"""

USE = """
(function () {
  function names() {
    return Array.from(document.querySelectorAll('#catalog tbody tr'))
      .filter(function (row) { return !row.hidden; })
      .map(function (row) { return row.cells[0].textContent; });
  }
  var result = {first: names(), sums: document.querySelector('header .note').textContent};
  result.troubles = Array.from(document.querySelectorAll('#attention li')).map(function (item) {
    return [item.querySelector('bdi').textContent, item.querySelector('.badge').textContent]; });
  result.before = !!(document.getElementById('attention').compareDocumentPosition(
    document.getElementById('catalog')) & Node.DOCUMENT_POSITION_FOLLOWING);
  result.rates = Array.from(document.querySelectorAll('.filter')).map(function (filter) {
    return [filter.querySelector('h2').textContent, +filter.querySelector('[data-by-items]').dataset.byItems]; });
  var heads = Array.from(document.querySelectorAll('#catalog th button'));
  var items = heads.find(function (b) { return b.textContent === 'items'; });
  items.click(); result.rising = names(); result.sorted = items.parentElement.getAttribute('aria-sort');
  items.click(); result.falling = names();
  heads[0].click(); result.again = names();
  var find = document.getElementById('find');
  if (find) {
    find.value = 'GRO'; find.dispatchEvent(new Event('input')); result.found = names();
    result.count = document.getElementById('found').textContent;
    find.value = ''; find.dispatchEvent(new Event('input'));
  }
  var map = Array.from(document.querySelectorAll('svg.heat')).find(function (m) {
    return /[1-9]/.test(m.dataset.fill); });
  map.scrollIntoView();
  var place = map.getBoundingClientRect();
  map.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: place.left + 1,
                                                     clientY: place.top + 1}));
  result.pointed = map.closest('figure').querySelector('output').textContent;
  return result;
})()"""

# Must be told by the browser, else this test would not see anything.
TROUBLE = "<img src='http://127.0.0.1:9/x'><script>missing();</script></body>"


class Page(html.parser.HTMLParser):
    """Of a file or a document: its JSON elements, the rows of its first table, its sections."""

    def __init__(self, text):
        super().__init__()
        self.data, self.sections, self.rows = [], [], []
        self.inside, self.text = None, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        here = self.sections[-1] if self.sections else self.rows[-1] if self.rows else None
        if tag == "details" and "filter" in attributes.get("class", "").split():
            self.sections.append({"name": None, "fields": [], "maps": []})
        elif tag == "tr" and not self.sections:
            self.rows.append({"cells": [], "fields": []})
        elif tag in ("td", "th") and not self.sections:
            here["cells"].append("")
            self.inside = tag
        elif tag == "data":
            here["fields"].append([attributes["data-field"], json.loads(attributes["value"]), ""])
            self.inside = tag
        elif tag == "svg" and attributes.get("class") == "heat":
            here["maps"].append([float(v) for v in attributes["data-fill"].split()])
        elif tag == "h2" or attributes.get("type") == "application/json":
            self.inside, self.text = tag, ""

    def handle_data(self, data):
        self.text += data
        if self.inside == "data":
            (self.sections or self.rows)[-1]["fields"][-1][2] += data
        elif self.inside in ("td", "th"):
            self.rows[-1]["cells"][-1] += data

    def handle_endtag(self, tag):
        if tag != self.inside:
            return
        self.inside = None
        if tag == "script":
            self.data.append(json.loads(self.text))
        elif tag == "h2" and self.sections:
            self.sections[-1]["name"] = self.text


def make_store(tamis):
    numbers = [str(number) for number in range(60000)]
    create = [("exact", 20000, ("-m", 300007, "-k", 7)), (HOSTILE, 90, ("-n", 100)),
              ("grown", 30000, ("-n", 1000)), ("empty", 0, ("-n", "1M")),
              ("over", 4000, ("-n", "1k", "-p", "0.1%", "--on-full", "warn")),
              ("recent-10", 3000, ("-n", "10k", "--window", "30d")),
              ("recent-2", 3000, ("--window", "2k")),
              ("refuses", 5000, ("-n", "5k", "-p", "1e-6", "--on-full", "refuse")),
              ("listed", 9000, ("-n", "20k", "--kind", "counting")),
              ("größe 漢字", 5, ("-n", "10")), ("long" * 60, 1, ("-n", "10")), ("two\u2028lines", 1, ("-n", "10"))]
    for name, keys, options in create:
        tamis.run("create", name, *options)
        tamis.run("add", name, lines=numbers[:keys])
    for _ in range(3):
        tamis.run("rotate", "recent-10")
    tamis.run("add", "recent-10", lines=numbers[:700])
    for generation in range(1, 16):  # so many that their table must be scrolled
        tamis.run("build", "black", "--keep", 20, lines=numbers[:generation * 3000])
    tamis.run("except", "black", "add", "5", "6")
    tamis.run("create", "forgotten", "-n", 100, "--window", "1s", "--slices", 1)
    tamis.run("add", "forgotten", lines=numbers[:50])
    tamis.run("rotate", "forgotten")
    tamis.run("add", "forgotten", lines=numbers[:30])
    while tamis.run("info", "forgotten", "live_slices") != ["0"]:
        time.sleep(0.1)


def as_size(number):
    for unit in ("B", "KiB", "MiB"):
        if number < 1023.95:
            break
        number /= 1024
    return f"{number:.{0 if unit == 'B' else 1}f} {unit}"


def as_rate(number):
    if number == 0 or number >= 1e-4:
        return f"{100 * number:.3g}\u00a0%" if number else "0"
    digits, power = f"{number:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"


def as_share(number):
    return f"{100 * number:.1f}\u00a0%"


FORMS = {"items": "{:,}".format, "capacity": "{:,}".format, "size_bytes": as_size, "fill": as_share,
         "fp_rate": as_rate, "fp_rate_now": as_rate}


def check_data(tamis, data):
    """The JSON elements, which are for programs too, and the plain table against the command's own words."""
    for name, one in zip(NAMES, data):
        generations = [json.loads(line) for line in tamis.run("generations", name, "--json")]
        same(f"{name}: info", json.loads(tamis.run("info", name, "--json")[0]), one["info"])
        same(f"{name}: generations", len(generations), len(one["generations"]))
        for there, here in zip(generations, one["generations"]):
            same(f"{name}: generation", {field: there[field] for field in here}, here)
        points = [point for point in one["rate"]["points"] if point is not None]
        same(f"{name}: points of the rate", 0 if one["info"]["kind"] == "fuse" else 181, len(points))
        same(f"{name}: more keys, a higher rate", points, sorted(points))
    findings = [finding for one in data for finding in one["findings"]]
    same("findings", [list(trouble) for trouble in IN_TROUBLE],
         [[finding["filter"], finding["state"]] for finding in findings])
    full = next(one for one in data if one["info"]["name"] == "refuses")
    same("rate at capacity", as_rate(full["rate"]["by_items"]), as_rate(full["rate"]["points"][90]))


def check_figures(data, page):
    """Each section and each row of the document against the data that it is drawn from."""
    same("sections", NAMES, [section["name"] for section in page.sections])
    rows = page.rows[1:]
    same("rows", len(NAMES), len(rows))
    for info, section, row in zip((one["info"] for one in data), page.sections, rows):
        name = info["name"]
        scalars = {field for field, value in info.items() if not isinstance(value, list)}
        same(f"{name}: fields", scalars, {field for field, _, _ in section["fields"]})
        for field, value, _ in section["fields"] + row["fields"]:
            same(f"{name}: {field}", info[field], value)
        for field, value, text in section["fields"][:4] + row["fields"]:
            if field in FORMS:
                same(f"{name}: {field} for people", FORMS[field](value), text)
        same(f"{name}: maps", len(info["segments"]), len(section["maps"]))
        for segment, fill in zip(info["segments"], section["maps"]):
            if segment["m_bits"] < 50 * len(fill):
                continue
            # Parts are equal but for one bit; their shares are written with four digits.
            near = abs(sum(fill) / len(fill) - segment["fill"]) < 0.02 * segment["fill"] + 1e-4
            same(f"{name}: mean of the map", True, near)


# Of a filter's section: what its pictures have, and sentences below them.
PICTURES = """
(function () {
  var result = {};
  document.querySelectorAll('.filter').forEach(function (filter) {
    function all(what) { return Array.from(filter.querySelectorAll(what)); }
    var now = filter.querySelector('svg.rate .now'), curve = filter.querySelector('svg.rate .curve');
    var end = curve && curve.getAttribute('d').split(/[ML]/).pop().split(' ').map(Number);
    result[filter.querySelector('h2').textContent] = {
      charts: all('figcaption').map(function (c) { return c.firstChild.data; }),
      notes: all('.note').map(function (note) { return note.textContent; }).join(' '),
      slices: all('.slice').map(function (slice) { return slice.className.baseVal; }),
      rows: all('.bars tr').length, strong: all('tr.in-force td:first-child').map(function (td) { return td.textContent; }),
      generations: Array.from(all('.bars').pop().rows).slice(1).map(function (row) { return row.cells[0].textContent; }),
      from_now_to_capacity: now && [now.cx.baseVal.value - end[0], now.cy.baseVal.value - end[1]],
      deepest: Math.max.apply(null, all('.heat path').map(function (path) {
        return +path.getAttribute('fill-opacity'); }))};
  });
  return result;
})()"""


def check_pictures(pictures, data):
    for one in data:
        info, picture = one["info"], pictures[one["info"]["name"]]
        charts = ["Rate of false positives", "Fill over the file", "Growth by segment"]
        # Growth counts generations too: "never built anew" stood beside a table with "5 in force".
        shown = one["generations"] if one["published"] else []
        charts += ["Generations"] if shown else []
        windowed = ["Slices of the window"] if info["slices"] else []
        same(f"{info['name']}: charts", charts[:1] + windowed + charts[1:], picture["charts"])
        same(f"{info['name']}: rows", 1 + bool(shown) + len(info["segments"]) + len(shown), picture["rows"])
        in_force = " in force"
        generations = [str(each["generation"]) + (in_force if each["state"] == "in-force" else "")
                       for each in shown]
        if shown:
            same(f"{info['name']}: generations, the newest first", generations[::-1], picture["generations"])
        same(f"{info['name']}: the one in force", [text for text in generations if in_force in text], picture["strong"])
        greatest = max(part for segment in one["fill"] for part in segment)
        same(f"{info['name']}: the deepest colour", True, abs(picture["deepest"] - greatest) <= 0.0126)
    same("slices", ["slice"] * 3 + ["slice newest"], pictures["recent-10"]["slices"])
    same("slices that the window has left behind", ["slice past-slice"] * 2, pictures["forgotten"]["slices"])
    same("a full filter is where its curve ends", True,
         all(abs(way) < 3 for way in pictures["refuses"]["from_now_to_capacity"]))
    for name, words in (("recent-10", "A key is remembered for 30 days at least, and 33 days at most."),
                        ("recent-2", "The newest 2,000 keys are remembered."), ("black", "The filter is static"),
                        ("two\u2028lines", "by the set bits, at 1 item \u00b7"), ("refuses", "Then it takes no more"),
                        ("grown", "goes on in another segment"), ("over", "takes keys at a higher rate")):
        same(f"{name}: {words}", True, words in pictures[name]["notes"])


def check_use(tamis, told):
    items = {name: int(tamis.run("info", name, "items")[0]) for name in NAMES}
    same("rows at first", NAMES, told["first"])
    same("sums", True, told["sums"].startswith(f"{len(NAMES)} filters, {sum(items.values()):,} items, "))
    same("what needs attention", [list(trouble) for trouble in IN_TROUBLE], told["troubles"])
    same("it comes first", True, told["before"])
    listed = (json.loads(line) for line in tamis.run("list", "--json"))
    same("rates of list", {each["name"]: each["fp_rate_now"] for each in listed}, dict(told["rates"]))
    same("rows by items", sorted(items.values()), [items[name] for name in told["rising"]])
    same("the order is told", "ascending", told["sorted"])
    same("rows by items, down", sorted(items.values(), reverse=True),
         [items[name] for name in told["falling"]])
    same("rows by name", NAMES, told["again"])
    same("a part is told", True, told["pointed"].startswith("\u00b7 part 1: "))


def check_keyboard(chromium):
    """Tab reaches the headings of the catalog, and Enter sorts."""
    chromium.run("document.activeElement.blur(), scrollTo(0, 0)")
    for _ in range(20):
        chromium.press("Tab", 9)
        if chromium.run("document.activeElement.textContent") == "items":
            break
    same("Tab reaches a heading", "items", chromium.run("document.activeElement.textContent"))
    before = chromium.run("document.activeElement.parentElement.getAttribute('aria-sort')")
    chromium.press("Enter", 13, "\r")
    after = chromium.run("document.activeElement.parentElement.getAttribute('aria-sort')")
    same("Enter sorts", True, after is not None and before != after)


def first_pixel(png):
    """Of the first line nothing is before it, so whatever its filter its first pixel is as it is."""
    same("a PNG", b"\x89PNG\r\n\x1a\n", png[:8])
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    return tuple(zlib.decompress(data)[1:4])


def check_pages(chromium, path, directory, rules):
    """At each width, light and dark."""
    for width in WIDTHS:
        for dark in (False, True):
            what = f"{width} wide, {'dark' if dark else 'light'}"
            same(f"{what}: console", [], chromium.open(path, width, dark=dark))
            same(f"{what}: width", width, chromium.run("innerWidth"))
            same(f"{what}: layout", [], chromium.run(LAYOUT))
            judged = chromium.run(rules)
            same(f"{what}: rules", [], judged["wrong"])
            same(f"{what}: texts that were judged", True, judged["checked"] > 500)
            png = chromium.picture(f"{directory}/{width}-{'dark' if dark else 'light'}.png")
            same(f"{what}: colours", True,
                 max(first_pixel(png)) < 60 if dark else min(first_pixel(png)) > 200)
            same(f"{what}: something is on it", True, len(png) > 50000)
    chromium.open(path, 720, dark=True, media="print")  # A4
    same("layout in print", [], chromium.run(LAYOUT))
    png = chromium.picture(f"{directory}/print.png")
    same("print is light for those who have it dark", True, min(first_pixel(png)) > 200)
    same("contrast in print", [], chromium.run(rules)["wrong"])
    chromium.run("dispatchEvent(new Event('beforeprint'))")
    same("all is open in print", 0, chromium.run("document.querySelectorAll('details:not([open])').length"))


def changed(path, old, new):
    """A copy of the page with another text in a place of it."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    same("places", 1, text.count(old))
    copy = f"{path[:-5]}-{len(new)}.html"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    return copy


def check_without_script(chromium, path, data, directory):
    """As on a server that allows no script of a page."""
    copy = changed(path, "script-src 'unsafe-inline'", "script-src 'none'")
    for width in WIDTHS:
        told = " ".join(chromium.open(copy, width))
        same("the script is refused", True, "Content Security Policy" in told)
        same("layout without script", [], chromium.run(LAYOUT))
    page = Page(chromium.run("document.documentElement.outerHTML"))
    same("no sections", 0, len(page.sections))
    same("the plain table", [["name", "state", "items", "rate now"]] + [
        [one["info"]["name"], one["info"]["state"], f"{one['info']['items']:,}",
         f"{100 * one['info']['fp_rate_now']:.3g} %"] for one in data], [row["cells"] for row in page.rows])
    chromium.picture(f"{directory}/plain.png")


def check_large_figures(chromium, path):
    """Filters ten thousand times as large: on a phone their figures were cut off, as tables had to be scrolled."""
    with open(path, encoding="utf-8") as file:
        text = file.read()

    def grown(record):
        for field, value in record.items():
            if field in ("items", "capacity", "size_bytes", "generation") and isinstance(value, int):
                record[field] = value * 10007

    def element(found):
        one = json.loads(found.group(1))
        for record in one["info"], *one["info"]["segments"], *one["generations"]:
            grown(record)
        for place in "from", "capacity", "end":
            one["rate"][place] *= 10007
        as_text = json.dumps(one).replace("<", "\\u003c")  # a name has an end of a script
        return f'<script type="application/json">{as_text}</script>'

    copy = f"{path[:-5]}-large.html"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(re.sub('<script type="application/json">(.*?)</script>', element, text))
    for width in WIDTHS:
        same("console", [], chromium.open(copy, width))
        same(f"{width} wide: large figures", [], chromium.run(LAYOUT))


TROUBLED = """
(function () {
  function texts(what) { return Array.from(document.querySelectorAll(what)).map(function (e) { return e.textContent; }); }
  return {title: document.title, sections: texts('h2'), rows: document.querySelectorAll('#catalog tbody tr').length,
          calm: texts('.calm').length, attention: texts('#attention code'), trouble: texts('.filter .trouble'),
          badges: texts('#catalog .badge'), figures: document.querySelectorAll('#catalog data').length};
})()"""


def check_troubled(chromium, tamis, binary, scratch):
    """A store without filters, with a sound one, and with one that cannot be read, whose name must be quoted for a shell."""
    def told(*names):
        subprocess.run([binary, "--store", f"{scratch}/other", "report", *names, "-o", f"{scratch}/other.html"],
                       check=False, capture_output=True)
        same("console", [], chromium.open(f"{scratch}/other.html", 390))
        same("layout", [], chromium.run(LAYOUT))
        return chromium.run(TROUBLED)

    tamis.run("create", "it's", "-n", "100")
    tamis.run("drop", "-q", "it's")
    same("no filter", {"title": f"tamis report: {scratch}/other", "sections": ["Catalog"], "rows": 0, "calm": 0,
                       "attention": [], "trouble": [], "badges": [], "figures": 0}, told("--all"))
    tamis.run("create", "it's", "-n", "100")
    tamis.run("create", "sound", "-n", "100")
    same("a sound one", {"title": "tamis report: sound", "sections": ["Catalog", "sound"], "rows": 1, "calm": 1,
                         "attention": [], "trouble": [], "badges": ["ok"], "figures": 8}, told("sound"))
    path = json.loads(tamis.run("info", "it's", "--json")[0])["segments"][0]["file"]
    with open(f"{scratch}/other/{path}", "r+b") as file:
        file.seek(100)
        file.write(b"xx")
    page = told("--all")
    trouble = page.pop("trouble")
    same("one that cannot be read", {
        "title": f"tamis report: {scratch}/other", "sections": ["Needs attention", "Catalog", "it's", "sound"], "rows": 2,
        "calm": 0, "attention": ["tamis doctor 'it'\\''s'"], "badges": ["damaged", "ok"], "figures": 8}, page)
    same("why", True, len(trouble) == 1 and "damaged header" in trouble[0])


def main(binary, scratch):
    chromium = Chromium(scratch)
    tamis = Tamis(binary, f"{scratch}/store")
    make_store(tamis)
    path = f"{scratch}/page.html"
    directory = os.environ.get("TAMIS_SCREENSHOTS") or scratch
    with open(os.path.join(os.path.dirname(__file__), "accessible.js"), encoding="utf-8") as file:
        rules = file.read()
    tamis.run("report", "--all", "-o", path)
    same("console", [], chromium.open(path, 1280))
    with open(path, encoding="utf-8") as file:
        data = Page(file.read()).data
    same("data", NAMES, [one["info"]["name"] for one in data])
    check_data(tamis, data)
    check_figures(data, Page(chromium.run("document.documentElement.outerHTML")))
    check_pictures(chromium.run(PICTURES), data)
    check_use(tamis, chromium.run(USE))
    check_keyboard(chromium)
    check_pages(chromium, path, directory, rules)
    check_without_script(chromium, path, data, directory)
    check_large_figures(chromium, path)
    told = " ".join(chromium.open(changed(path, "</body>", TROUBLE), 1280))
    same("the browser tells of trouble", (True, True), ("Content Security Policy" in told, "missing" in told))
    # More filters than are open at first: what is folded up, and found.
    for number in range(20):
        tamis.run("create", f"folded-{number}", "-n", "1k")
    tamis.run("report", "--all", "-o", path)
    same("console", [], chromium.open(path, 1280))
    same("folded sections", len(NAMES) + 20, chromium.run("document.querySelectorAll('.filter').length"))
    same("those in trouble are open", [name for name, _ in IN_TROUBLE], chromium.run(
        "Array.from(document.querySelectorAll('.filter[open] h2')).map(function (h) { return h.textContent; })"))
    told = chromium.run(USE)
    same("natural order", [f"folded-{number}" for number in range(20)],
         [name for name in told["first"] if name.startswith("folded")])
    same("found", (["grown"], f"1 of {len(NAMES) + 20}"), (told["found"], told["count"]))
    chromium.picture(f"{directory}/folded.png")
    check_troubled(chromium, Tamis(binary, f"{scratch}/other"), binary, scratch)
    chromium.close()
    finish(300)


with tempfile.TemporaryDirectory() as directory_of_test:
    main(sys.argv[1], directory_of_test)
