# SPDX-License-Identifier: BSD-2-Clause
"""report_chromium.py TAMIS: the page of `tamis report` in a browser.

Headless Chromium, which resolves no name, loads the page of a store of every sort of filter: nothing is
told on its console, the figures of its document are those of `info --json` and `generations --json`, no
text lies on another or is cut off, sorting and finding do what they say, light and dark differ.  With
$TAMIS_SCREENSHOTS the pictures are left in that directory, to be looked at.
"""
import html.parser
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

from command import Tamis, finish, same, skip

HOSTILE = "</script><script>alert(1)</script>\"onload='x'& <b>x"
NAMES = ["black", "empty", "exact", HOSTILE, "grown", "listed", "over", "recent", "refuses",
         "größe 漢字", "long" * 60]

# What the page is asked once it is there; the answer is put into its document.
LAYOUT = """
<script>(function () {
  var wrong = [];
  function say(what, element) { wrong.push(what + ': ' + element.textContent.slice(0, 60)); }
  function box(element) { return element.getBoundingClientRect(); }
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
  document.querySelectorAll('svg').forEach(function (svg) {
    var texts = Array.from(svg.querySelectorAll('text')), frame = box(svg);
    texts.forEach(function (text, i) {
      var a = box(text);
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.bottom > frame.bottom + 1)
        say('cut off', text);
      texts.slice(0, i).forEach(function (other) {
        var b = box(other);
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          say('on another', text);
      });
    });
    svg.querySelectorAll('circle').forEach(function (dot) {
      var c = box(dot);
      if (c.left < frame.left || c.right > frame.right || c.top < frame.top || c.bottom > frame.bottom)
        say('dot cut off', svg);
    });
  });
  document.querySelectorAll('.tile, figcaption, .note, dd, h2').forEach(function (element) {
    if (element.scrollWidth > element.clientWidth + 1) say('too wide', element);
  });
  if (innerWidth > 1000)
    document.querySelectorAll('.scroll, .wide').forEach(function (element) {
      if (element.scrollWidth > element.clientWidth + 1) say('to be scrolled', element);
    });
  function names() {
    return Array.from(document.querySelectorAll('#catalog tbody tr'))
      .filter(function (row) { return !row.hidden; })
      .map(function (row) { return row.cells[0].textContent; });
  }
  var result = {wrong: wrong, first: names()}, heads = document.querySelectorAll('#catalog th');
  heads[2].click(); result.rising = names();
  heads[2].click(); result.falling = names();
  var find = document.getElementById('find');
  if (find) {
    find.value = 'GRO'; find.dispatchEvent(new Event('input')); result.found = names();
  }
  var map = document.querySelector('svg.heat'), place = box(map);
  map.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: place.left + 1,
                                                     clientY: place.top + 1}));
  result.pointed = map.closest('figure').querySelector('output').textContent;
  var told = document.createElement('pre');
  told.id = 'told';
  told.textContent = JSON.stringify(result);
  document.body.appendChild(told);
})();</script></body>"""

# Must be told by the browser, else this test would not see anything.
TROUBLE = "<img src='http://127.0.0.1:9/x'><script>missing();</script></body>"


class Chromium:
    def __init__(self, binary, scratch):
        self.call = [binary, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                     f"--user-data-dir={scratch}/profile", "--host-resolver-rules=MAP * ~NOTFOUND",
                     "--enable-logging=stderr", "--v=0"]

    def run(self, path, *options):
        """(What it prints, the lines of its console)."""
        done = subprocess.run(self.call + list(options) + ["file://" + path], capture_output=True,
                              text=True, check=False, timeout=240)
        if done.returncode != 0:
            sys.exit(f"chromium: exit {done.returncode}: {done.stderr}")
        return done.stdout, [line for line in done.stderr.split("\n") if "CONSOLE" in line]

    def document(self, path, width=1280):
        return self.run(path, "--dump-dom", f"--window-size={width},1000")

    def picture(self, path, png, width, height, dark=False):
        self.run(path, f"--screenshot={png}", f"--window-size={width},{height}",
                 f"--blink-settings=preferredColorScheme={0 if dark else 1}")
        with open(png, "rb") as file:
            return file.read()


class Page(html.parser.HTMLParser):
    """The sections of the page: name, JSON, fields as they stand in it, maps; and what was told."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.rows, self.told = [], [], None
        self.inside, self.text = None, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "details" and "filter" in attributes.get("class", "").split():
            self.sections.append({"name": None, "fields": [], "maps": []})
        elif tag == "tr" and not self.sections:
            self.rows.append([])
        elif tag == "data":
            field = (attributes["data-field"], json.loads(attributes["value"]))
            (self.sections[-1]["fields"] if self.sections else self.rows[-1]).append(field)
        elif tag == "svg" and attributes.get("class") == "heat":
            self.sections[-1]["maps"].append([float(v) for v in attributes["data-fill"].split()])
        elif tag == "pre" or tag == "h2" or attributes.get("type") == "application/json":
            self.inside, self.text = tag, ""

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if tag != self.inside:
            return
        self.inside = None
        if tag == "pre":
            self.told = json.loads(self.text)
        elif tag == "script":
            self.sections[-1].update(json.loads(self.text))
        elif self.sections:
            self.sections[-1]["name"] = self.text


def make_store(tamis):
    numbers = [str(number) for number in range(60000)]
    create = [("exact", 20000, ("-m", 300007, "-k", 7)), (HOSTILE, 90, ("-n", 100)),
              ("grown", 30000, ("-n", 1000)), ("empty", 0, ("-n", "1M")),
              ("over", 4000, ("-n", "1k", "-p", "0.1%", "--on-full", "warn")),
              ("recent", 3000, ("-n", "10k", "--window", "30d")),
              ("refuses", 4000, ("-n", "5k", "-p", "1e-6", "--on-full", "refuse")),
              ("listed", 9000, ("-n", "20k", "--kind", "counting")),
              ("größe 漢字", 5, ("-n", "10")), ("long" * 60, 1, ("-n", "10"))]
    for name, keys, options in create:
        tamis.run("create", name, *options)
        tamis.run("add", name, lines=numbers[:keys])
    for generation in range(1, 7):
        tamis.run("build", "black", "--keep", 4, lines=numbers[:generation * 9000])
    tamis.run("except", "black", "add", "5", "6")


def check_figures(tamis, page):
    """Each section and each row against the command's own words."""
    same("sections", sorted(NAMES), [section["name"] for section in page.sections])
    rows = [row for row in page.rows if row]
    same("rows", len(NAMES), len(rows))
    for section, row in zip(page.sections, rows):
        name = section["name"]
        info = json.loads(tamis.run("info", name, "--json")[0])
        generations = [json.loads(line) for line in tamis.run("generations", name, "--json")]
        same(f"{name}: info", info, section["info"])
        same(f"{name}: generations", len(generations), len(section["generations"]))
        for there, here in zip(generations, section["generations"]):
            same(f"{name}: generation", {field: there[field] for field in here}, here)
        scalars = {field for field, value in info.items() if not isinstance(value, list)}
        same(f"{name}: fields", scalars, {field for field, _ in section["fields"]})
        for field, value in section["fields"] + row:
            same(f"{name}: {field}", info[field], value)
        same(f"{name}: maps", len(info["segments"]), len(section["maps"]))
        for segment, fill in zip(info["segments"], section["maps"]):
            if segment["m_bits"] < 50 * len(fill):
                continue
            # Parts are equal but for one bit; their shares are written with four digits.
            near = abs(sum(fill) / len(fill) - segment["fill"]) < 0.02 * segment["fill"] + 1e-4
            same(f"{name}: mean of the map", True, near)


def check_told(tamis, told):
    items = {name: int(tamis.run("info", name, "items")[0]) for name in NAMES}
    same("wrong in the layout", [], told["wrong"])
    same("rows at first", sorted(NAMES), told["first"])
    same("rows by items", sorted(items.values()), [items[name] for name in told["rising"]])
    same("rows by items, down", sorted(items.values(), reverse=True),
         [items[name] for name in told["falling"]])
    same("a part is told", True, told["pointed"].startswith("\u00b7 part 1: "))
    if "found" in told:
        same("found", ["grown"], told["found"])


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


def check_pictures(chromium, path, directory):
    light = chromium.picture(path, f"{directory}/light.png", 1280, 2400)
    dark = chromium.picture(path, f"{directory}/dark.png", 1280, 2400, dark=True)
    chromium.picture(path, f"{directory}/narrow.png", 500, 2400)
    same("light", True, min(first_pixel(light)) > 200)
    same("dark", True, max(first_pixel(dark)) < 60)
    same("something is on it", True, len(light) > 50000)


def with_end(path, end):
    """A copy of the page with another end."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    copy = f"{path[:-5]}-{len(end)}.html"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", end))
    return copy


def main(binary, scratch):
    browser = shutil.which("chromium")
    if browser is None:
        skip("chromium is not installed")
    tamis = Tamis(binary, f"{scratch}/store")
    chromium = Chromium(browser, scratch)
    make_store(tamis)
    path = f"{scratch}/page.html"
    tamis.run("report", "--all", "-o", path)
    text, console = chromium.document(path)
    same("console", [], console)
    check_figures(tamis, Page(text))
    for width in (1280, 500):
        text, console = chromium.document(with_end(path, LAYOUT), width)
        same("console", [], console)
        check_told(tamis, Page(text).told)
    _, console = chromium.document(with_end(path, TROUBLE))
    same("the browser tells of trouble", 2, len(console))
    directory = os.environ.get("TAMIS_SCREENSHOTS") or scratch
    check_pictures(chromium, path, directory)
    # More filters than are open at first: what is folded up, and found.
    for number in range(20):
        tamis.run("create", f"folded-{number:02}", "-n", "1k")
    tamis.run("report", "--all", "-o", path)
    text, console = chromium.document(path)
    same("console", [], console)
    same("folded sections", len(NAMES) + 20, len(Page(text).sections))
    chromium.picture(path, f"{directory}/folded.png", 1280, 1800)
    finish(300)


with tempfile.TemporaryDirectory() as directory_of_test:
    main(sys.argv[1], directory_of_test)
