/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a page for somebody who does not see it, has no mouse, or sees little contrast: the
 * rules of WCAG 2.2 that a program can judge, as axe and Lighthouse do.  A list of sentences. */
(function () {
  var wrong = [];
  function all(what, within) { return Array.from((within || document).querySelectorAll(what)); }
  function say(rule, element) {
    wrong.push(rule + ': <' + element.tagName.toLowerCase() + '> ' + element.textContent.trim().slice(0, 50));
  }
  function is_shown(element) {
    return element.checkVisibility({visibilityProperty: true}) && element.getClientRects().length > 0;
  }
  function name(element) {
    var by = element.getAttribute('aria-labelledby');
    return (element.getAttribute('aria-label') || (by && document.getElementById(by) || {}).textContent ||
            element.textContent || '').trim();
  }

  /* Names and structure. */
  if (!document.documentElement.lang) wrong.push('the page has no language');
  if (!document.title) wrong.push('the page has no title');
  if (all('main').length !== 1 || all('h1').length !== 1) wrong.push('not one main and one h1');
  var level = 0;
  all('h1,h2,h3,h4').forEach(function (h) {
    if (+h.tagName[1] > level + 1) say('a level of headings is skipped', h);
    level = +h.tagName[1];
  });
  var ids = {};
  all('[id]').forEach(function (e) { if (ids[e.id]) say('two of one id', e); ids[e.id] = true; });
  all('[aria-labelledby],[aria-describedby]').forEach(function (e) {
    if (!document.getElementById(e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby')))
      say('labelled by nothing', e);
  });
  all('a,button,summary,input,[role=img],[role=region],[role=group]').forEach(function (e) {
    if (!name(e)) say('has no name', e);
  });
  all('svg').forEach(function (e) {
    if (e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label')) say('a picture without a name', e);
  });
  all('a[href^="#"]').forEach(function (e) {
    if (!document.getElementById(e.getAttribute('href').slice(1))) say('leads nowhere', e);
  });
  all('th').forEach(function (e) {
    if (!e.textContent.trim()) say('an empty heading', e);
    if (!e.getAttribute('scope')) say('a heading without scope', e);
  });
  all('ul,ol').forEach(function (e) {
    if (Array.from(e.children).some(function (c) { return c.tagName !== 'LI'; })) say('not a list', e);
  });

  /* The keyboard: whatever scrolls can be reached. */
  all('*').forEach(function (e) {
    var style = getComputedStyle(e);
    if (!/auto|scroll/.test(style.overflowX + style.overflowY) || !is_shown(e)) return;
    if ((e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1) && e.tabIndex < 0)
      say('scrolls, but not by the keyboard', e);
  });
  all('[tabindex]').forEach(function (e) { if (e.tabIndex > 0) say('is out of order', e); });

  /* Contrast: 4.5 to 1, large text 3 to 1. */
  function colour(text) {
    var n = text.match(/[\d.]+/g).map(Number);
    return {r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1};
  }
  function light(c) {
    return [c.r, c.g, c.b].map(function (v) {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
    }).reduce(function (sum, v, i) { return sum + v * [0.2126, 0.7152, 0.0722][i]; }, 0);
  }
  function behind(e) {
    for (; e; e = e.parentElement) {
      var c = colour(getComputedStyle(e).backgroundColor);
      if (c.a === 1) return c;
      if (c.a > 0) return null;
    }
    return {r: 255, g: 255, b: 255, a: 1};
  }
  var checked = 0;
  all('body *').forEach(function (e) {
    var own = Array.from(e.childNodes).some(function (n) { return n.nodeType === 3 && n.data.trim(); });
    if (!own || /^(SCRIPT|STYLE)$/.test(e.tagName) || !is_shown(e)) return;
    var style = getComputedStyle(e), back = behind(e);
    if (!back) return say('cannot be judged', e);
    var front = light(colour(e.closest('svg') ? style.fill : style.color));
    var a = Math.max(front, light(back)), b = Math.min(front, light(back)), size = parseFloat(style.fontSize);
    var large = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    checked++;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5))
      say('too little contrast, ' + ((a + 0.05) / (b + 0.05)).toFixed(2), e);
  });
  return {wrong: wrong, checked: checked};
})()
