# SPDX-License-Identifier: BSD-2-Clause
"""pictures_chromium.py TAMIS: the pictures of docs/ as a browser draws them.

In each SVG, light and dark: no text leaves the picture or the box in which it begins, none lies on
another, and each can be read on what is behind it.  Of an animated one the last picture is judged, which
a reader sees who wants no motion.  At the first moment of an animated one its text is there, too.

Seen to fail: a word more in a box of overview.svg; a line of key.svg moved by 10; --soft of disk.svg at #999;
terminal.svg as it was when its animation began with an empty terminal.
"""
import glob
import os
import sys
import tempfile

from chromium import Chromium
from command import VECTORS, finish, same

DOCS = os.path.join(os.path.dirname(VECTORS), "..", "..", "docs")

RULES = """
(function () {
  var wrong = [], svg = document.documentElement, frame = svg.viewBox.baseVal;
  var hidden = Array.from(document.querySelectorAll('.type'));
  hidden.forEach(function (e) { e.remove(); });
  function say(what, text) { wrong.push(what + ': ' + text.textContent.slice(0, 60)); }
  function light(colour) {
    return colour.match(/[\\d.]+/g).slice(0, 3).map(function (v) {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    }).reduce(function (sum, v, i) { return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0);
  }
  var boxes = Array.from(document.querySelectorAll('rect')).map(function (rect) {
    return {box: rect.getBBox(), fill: getComputedStyle(rect).fill, rect: rect}; })
    .filter(function (b) { return b.fill !== 'none' && !b.rect.closest('clipPath'); });
  var texts = Array.from(document.querySelectorAll('text')).filter(function (t) { return t.textContent.trim(); });
  texts.forEach(function (text, i) {
    var t = text.getBBox(), middle = t.y + t.height / 2, behind = null;
    if (t.x < 0 || t.y < 0 || t.x + t.width > frame.width || t.y + t.height > frame.height) say('cut off', text);
    boxes.forEach(function (b) {  /* the last one drawn is on top */
      if (b.box.x <= t.x + 1 && t.x + 1 <= b.box.x + b.box.width && b.box.y <= middle &&
          middle <= b.box.y + b.box.height)
        behind = b;
    });
    if (!behind) return say('on nothing', text);
    if (t.x + t.width > behind.box.x + behind.box.width + 0.5) say('leaves its box', text);
    texts.slice(0, i).forEach(function (other) {
      var o = other.getBBox();
      if (t.x < o.x + o.width && o.x < t.x + t.width && t.y + 2 < o.y + o.height && o.y + 2 < t.y + t.height)
        say('on another', text);
    });
    Array.from(text.querySelectorAll('tspan')).concat(text).forEach(function (part) {
      var a = light(getComputedStyle(part).fill), b = light(behind.fill);
      if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) say('too little contrast', part);
    });
  });
  if (svg.getAttribute('role') !== 'img' || !svg.getAttribute('aria-label')) wrong.push('it has no name');
  return {wrong: wrong, texts: texts.length};
})()"""

# Stops the animations at their beginning, and counts the lines that can be seen then, and all lines.
FIRST = """
(function () {
  document.getAnimations().forEach(function (a) { a.pause(); a.currentTime = 0; });
  var lines = Array.from(document.querySelectorAll('.line'));
  return {seen: lines.filter(function (e) { return getComputedStyle(e).visibility === 'visible'; }).length,
          all: lines.length, moving: document.getAnimations().length};
})()"""


def main(scratch):
    pictures = sorted(glob.glob(f"{DOCS}/*.svg") + glob.glob(f"{DOCS}/*/*.svg"))
    chromium = Chromium(scratch)
    for picture in pictures:
        for dark in (False, True):
            what = f"{os.path.basename(picture)}, {'dark' if dark else 'light'}"
            same(f"{what}: console", [], chromium.open(os.path.abspath(picture), 1280, dark=dark, still=True))
            judged = chromium.run(RULES)
            same(what, [], judged["wrong"])
            same(f"{what}: texts", True, judged["texts"] > 5)
    chromium.open(os.path.join(os.path.abspath(DOCS), "pictures", "terminal.svg"), 1280, dark=False, still=False)
    first = chromium.run(FIRST)
    same("terminal.svg moves", True, first["moving"] > 5)
    same("lines of terminal.svg at its beginning", first["all"], first["seen"])
    chromium.close()
    finish(30)


with tempfile.TemporaryDirectory() as directory_of_test:
    main(directory_of_test)
