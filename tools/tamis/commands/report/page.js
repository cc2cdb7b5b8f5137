/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the page from its JSON elements, one for each filter, in the place of the plain table. Lines and
 * dots are SVG, bars are tables: text wraps and aligns there. Colours are classes, so that the style has
 * a light and a dark form of them. Figures stand in <data value="..."> with what `tamis info --json`
 * prints, beside the form for people. */
'use strict';
(function () {
  const OPEN_AT_MOST = 12; /* with more filters all sections are closed at first */
  const main = document.querySelector('main');
  const rest = document.getElementById('rest'); /* what is said of filters that are not in the page */
  const made_at = Date.parse(document.querySelector('time').textContent);
  const filters = Array.from(document.querySelectorAll('script[type="application/json"]'),
    (element, index) => Object.assign(JSON.parse(element.textContent), {index}));

  /* ---- Pieces: what is put into html`...` is text, unless it is a piece or a list of pieces. */

  const ESCAPES = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
  class Piece {
    constructor(text) { this.text = text; }
  }
  function control(c) { /* a byte of UTF-8 each, as the command shows them */
    const code = c.charCodeAt(0);
    return (code > 127 ? '\\xc2' : '') + '\\x' + code.toString(16).padStart(2, '0');
  }
  function as_html(value) {
    if (value instanceof Piece) return value.text;
    if (Array.isArray(value)) return value.map(as_html).join('');
    return String(value).replace(/[&<>"']/g, c => ESCAPES[c]).replace(/[\0-\x1f\x7f-\x9f]/g, control);
  }
  function html(strings, ...values) {
    return new Piece(strings.reduce((text, next, i) => text + as_html(values[i - 1]) + next));
  }

  /* ---- Numbers as people read them. */

  const sum = numbers => numbers.reduce((a, b) => a + b, 0);
  const most = (numbers, least) => numbers.reduce((a, b) => Math.max(a, b), least);
  const clamped = part => Math.min(1, Math.max(0, part));
  const one = number => number.toFixed(1); /* a place in a picture */
  const digits = number => String(+number.toPrecision(3));
  const count = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  const counted = (number, noun) => count(number) + ' ' + noun + (number === 1 ? '' : 's');
  const share = part => one(100 * part) + '\u00a0%';
  const time = ms => new Date(ms).toISOString().slice(0, 19) + 'Z';

  function scaled(number, step, limit, units) {
    let unit = 0;
    for (; number >= limit && unit + 1 < units.length; unit++) number /= step;
    return [number, units[unit]];
  }
  function short(number) { /* 12.3 k */
    const [value, unit] = scaled(number, 1000, 999.5, ['', ' k', ' M', ' G', ' T', ' P']);
    return digits(value) + unit;
  }
  function size(bytes) {
    const [value, unit] = scaled(bytes, 1024, 1023.95, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']);
    return value.toFixed(unit === 'B' ? 0 : 1) + ' ' + unit;
  }
  function rate(value) { /* 0.48 %; below 0.01 % 1.2e-6, as -p has it */
    if (value > 0 && value < 1e-4) return value.toExponential(2).replace(/\.?0+e/, 'e');
    return value > 0 ? digits(100 * value) + '\u00a0%' : '0';
  }
  function span(seconds) { /* 30 days, 33 hours, 90 s */
    const units = [[86400, 'days'], [3600, 'hours'], [60, 'minutes'], [1, 's']];
    const [unit, name] = units.find(([unit]) => unit === 1 || seconds >= 2 * unit);
    return digits(seconds / unit) + ' ' + name;
  }
  function plain(value) { /* as `tamis info` prints it */
    if (value === null) return 'never';
    return value > 0 && value < 1e-4 ? value.toExponential() : String(value);
  }

  /* ---- Parts that stand in several places. */

  const name_of = filter => html`<bdi>${filter.error ? filter.name : filter.info.name}</bdi>`;
  const full_share = info => info.capacity > 0 ? info.items / info.capacity : 0;
  const figure = (caption, content) => html`<figure><figcaption>${caption}</figcaption>${content}</figure>\n`;
  const cell = (text, more) => html`<td class="n${more || ''}">${text}</td>`;

  function badge(state) {
    const mood = state === 'ok' ? 'ok' : state === 'full' || state === 'over' ? 'full' : 'bad';
    return html`<span class="badge ${mood}">${state}</span>`;
  }
  /* A field of the info: its value for programs, and its form for people. */
  function datum(filter, field, form) {
    const value = filter.info[field];
    const text = form === plain ? plain(value) : form(value || 0);
    return html`<data data-field="${field}" value="${JSON.stringify(value)}">${text}</data>`;
  }
  /* Growth and slices count generations too, which tell people nothing. */
  function generation(filter) {
    return datum(filter, 'generation', number => filter.published ? count(number) : '-');
  }
  /* A cell with a bar of `done` on one of `whole`, both as shares of the column. */
  function bar(done, whole) {
    return html`<td class="track"><div><span class="whole" style="width:${one(100 * clamped(whole))}%"></span><span
      class="done" style="width:${one(100 * clamped(done))}%"></span></div></td>`;
  }
  /* A table of bars that scrolls; headings are [text, class]. */
  function bars(label, [first, ...headings], rows) {
    return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="bars"><tr><th
      scope="col">${first}</th><td class="track"></td>${headings.map(([heading, more]) =>
      html`<th scope="col" class="n${more || ''}">${heading}</th>`)}</tr>${rows}</table></div>`;
  }

  /* ---- What needs attention, and the catalog. */

  function finding_item(filter, finding) {
    const also = finding.state === 'over'
      ? ` (by the number of items; the set bits say ${rate(filter.info.fp_rate_now)})` : '';
    return html`<li>${badge(finding.state)} <a href="#f${filter.index}">${name_of(filter)}</a>: ${finding.what}${also}<p
      class="advice">${finding.advice}</p>${finding.command ? html`<code>${finding.command}</code>` : ''}</li>\n`;
  }
  function attention() {
    const items = filters.flatMap(filter => filter.findings.map(finding => finding_item(filter, finding)));
    if (items.length > 0)
      return html`<section class="panel" id="attention" aria-labelledby="wrong"><h2
        id="wrong">Needs attention</h2><ul>\n${items}</ul></section>\n`;
    return filters.length === 0 ? '' : html`<p class="calm">Nothing needs attention: no filter is full, over its ${
      ''}rate, unclean, degraded or damaged.</p>\n`;
  }

  /* The columns after the name and the state. "more" is left out on a phone, "most" on a small screen too. */
  const COLUMNS = [
    ['items', 'n ', filter => datum(filter, 'items', count)],
    ['capacity', 'n more', filter => datum(filter, 'capacity', count)],
    ['rate now', 'n ', filter => datum(filter, 'fp_rate_now', rate)],
    ['asked for', 'n more', filter => datum(filter, 'fp_rate', rate)],
    ['fill', 'n more', filter => datum(filter, 'fill', share)],
    ['size', 'n more', filter => datum(filter, 'size_bytes', size)],
    ['kind', ' more most', filter => datum(filter, 'kind', plain)],
    ['generation', 'n more most', generation]];

  function catalog_row(filter) {
    const cells = filter.error ? [] : COLUMNS.map(([heading, classes, form]) => html`<td
      class="${classes}">${form(filter)}</td>${heading === 'capacity' ? bar(full_share(filter.info), 1) : ''}`);
    return html`<tr><th scope="row" class="name"><a href="#f${filter.index}">${name_of(filter)}</a></th><td>${
      badge(filter.error ? 'damaged' : filter.info.state)}</td>${cells}</tr>\n`;
  }
  function catalog() {
    const find = filters.length <= OPEN_AT_MOST ? '' : html`<input id="find" type="search"
      placeholder="find a name" aria-label="find a name"><output id="found"></output>`;
    const headings = COLUMNS.map(([heading, classes]) => html`<th scope="col" class="${classes}">${heading}</th>${
      heading === 'capacity' ? html`<td class="track"></td>` : ''}`);
    return html`<section class="panel" aria-labelledby="all"><h2 id="all">Catalog</h2>${find}<div class="wide"
      tabindex="0" role="region" aria-labelledby="all"><table id="catalog"><thead><tr><th scope="col">name</th><th
      scope="col">state</th>${headings}</tr></thead><tbody>\n${filters.map(catalog_row)}</tbody></table></div><p
      class="note"><b>Rate now</b> is counted from the set bits, as <code>tamis info</code> has it. The rate that ${
      ''}<code>tamis list</code> prints follows from the number of items; each filter below has both.</p></section>\n`;
  }

  /* ---- The rate by the number of items: the first half of the points goes up to the capacity. */

  const LEFT = 76, RIGHT = 470, TOP = 12, BOTTOM = 188;

  function after_capacity(info) {
    if (info.on_full === 'grow')
      return 'Then the filter goes on in another segment and keeps the rate asked for. The dashed line is the ' +
        'rate that it would have without that segment.';
    if (info.on_full === 'refuse') return 'Then it takes no more keys.';
    return 'Past that it takes keys at a higher rate than was asked for.';
  }
  function rate_picture(info, {from, capacity, end, points}) {
    const now = info.fp_rate_now, half = (points.length - 1) / 2;
    const highest = Math.min(1, 1.06 * Math.max(points[2 * half], now, info.fp_rate));
    const x = items => LEFT + (RIGHT - LEFT) * (items - from) / (end - from);
    const y = value => BOTTOM - (BOTTOM - TOP) * value / highest;
    const x_of = i => x(i <= half ? from + (capacity - from) * i / half : capacity + (end - capacity) * (i / half - 1));
    const path = (more, first, last) => html`<path class="curve${more}" d="${
      points.slice(first, last + 1).map((value, i) => (i > 0 ? 'L' : 'M') + one(x_of(first + i)) + ' ' + one(y(value)))
    }"/>`;
    const y_label = value => html`<text class="end" x="${LEFT - 7}" y="${one(y(value) + 4)}">${rate(value)}</text>`;
    const full = x(capacity), asked_y = y(info.fp_rate);
    /* Of two labels that would meet the less important one is left out, and of "capacity 66.5 k" and
     * "99.3 k items" the word "items". */
    const is_long = short(capacity).length > 4 && short(end).length > 4;
    const middle = Math.min(Math.max(full, LEFT + 62), RIGHT - 62);
    const under = (place, at, ...text) => html`<text${place} x="${at}" y="${BOTTOM + 19}">${text}</text>`;
    return html`<svg class="rate" viewBox="0 0 480 216" role="img" aria-label="rate by items">${[
      html`<path class="axis" d="M${LEFT} ${BOTTOM}H${RIGHT}"/>`,
      html`<path class="asked" d="M${LEFT} ${one(asked_y)}H${RIGHT}"/>`,
      html`<path class="full" d="M${one(full)} ${TOP}V${BOTTOM}"/>`,
      y_label(info.fp_rate),
      asked_y < BOTTOM - 22 ? y_label(0) : '',
      asked_y > TOP + 22 ? y_label(highest) : '',
      under(html` class="mid"`, one(middle), info.slices > 0 ? 'segment full ' : 'capacity ', short(capacity)),
      full > LEFT + 122 ? under('', LEFT, short(from)) : '',
      full < RIGHT - 122 ? under(html` class="end"`, RIGHT, short(end),
        is_long ? '' : html`<tspan class="more"> items</tspan>`) : '',
      path('', 0, half),
      info.on_full === 'refuse' ? '' : path(' past', half, 2 * half),
      html`<path class="drop" d="M${one(x(info.items))} ${one(y(now))}V${BOTTOM}"/>`,
      html`<circle class="now" cx="${one(x(info.items))}" cy="${one(y(now))}" r="5"/>`]}</svg>`;
  }
  function chart_rate({info, rate: data}) {
    const now = rate(info.fp_rate_now), asked = rate(info.fp_rate), caption = 'Rate of false positives';
    if (data.points.length === 0)
      return figure(caption, html`<p class="big">${now}</p><p class="note">${asked} was asked for. The filter is ${
        ''}static: its rate follows from the size of its fingerprints, and stays so until the next build.</p>`);
    return figure(caption, html`${rate_picture(info, data)}<p class="note"><b class="key-now">now</b> ${now} by the ${
      ''}set bits, at ${counted(info.items, 'item')} \u00b7 <b class="key-asked">asked for</b> ${asked} \u00b7 <b
      class="key-full">${info.slices > 0 ? 'with its newest segment full' : 'at capacity'}</b> ${
      rate(data.points[(data.points.length - 1) / 2])}, predicted.<br>${after_capacity(info)}</p>`);
  }

  /* ---- The slices of a window: a bar for each, from its begin to the begin of the next; its height are
   * its items; the newest goes on to its end. A slice has several segments if it has grown. */

  function slices_of(info) {
    const slices = [];
    for (const segment of info.segments) {
      if (slices.length === 0 || slices[slices.length - 1].number !== segment.slice)
        slices.push({number: segment.slice, start: Date.parse(segment.slice_start), items: 0});
      const last = slices[slices.length - 1];
      last.items += segment.items;
      last.live = segment.live;
    }
    return slices;
  }
  function chart_window({info}) {
    if (info.slices === 0 || info.segments.length === 0) return '';
    const left = 10, top = 26, bottom = 104, least_wide = 12, least_high = 3;
    const slices = slices_of(info), newest = slices[slices.length - 1].start;
    const step = 1000 * info.window_seconds / info.slices; /* 0: the window is counted in keys */
    const end = Math.max(newest + step, made_at), fullest = most(slices.map(slice => slice.items), 0);
    const x = i => {
      if (i === slices.length) return RIGHT;
      const rest = RIGHT - left - least_wide * slices.length;
      const part = step === 0 ? i / slices.length
        : (slices[i].start - slices[0].start) / Math.max(1, end - slices[0].start);
      return left + least_wide * i + rest * part;
    };
    const slice_bar = (slice, i) => {
      const high = Math.max(least_high, fullest > 0 ? (bottom - top) * slice.items / fullest : 0);
      const more = !slice.live ? ' past-slice' : i + 1 === slices.length ? ' newest' : '';
      return html`<rect class="slice${more}" x="${one(x(i))}" y="${one(bottom - high)}"
        width="${one(x(i + 1) - x(i) - 2)}" height="${one(high)}"/>`;
    };
    const time_axis = () => {
      const begun = x(slices.length - 1);
      const now = begun + (RIGHT - begun) * Math.min(1, (made_at - newest) / Math.max(1, end - newest));
      const middle = Math.min(Math.max(now, left + 16), RIGHT - 16);
      return [html`<path class="full" d="M${one(now)} ${top - 6}V${bottom}"/>`,
        html`<text class="mid" x="${one(middle)}" y="${top - 11}">now</text>`,
        html`<text x="${left}" y="${bottom + 19}">${time(slices[0].start)}</text>`,
        html`<text class="end" x="${RIGHT}" y="${bottom + 19}">${time(end)}</text>`];
    };
    const remembered = step === 0 ? `The newest ${count(info.window_items)} keys are remembered.`
      : `A key is remembered for ${span(info.window_seconds)} at least, and ${
        span(info.window_seconds * (1 + 1 / info.slices))} at most.`;
    return figure('Slices of the window', html`<svg class="window" viewBox="0 0 480 130" role="img"
      aria-label="items of ${counted(slices.length, 'slice')} over time"><path class="axis"
      d="M${left} ${bottom + .5}H${RIGHT}"/>${slices.map(slice_bar)}${step > 0 ? time_axis() : ''}</svg><p
      class="note">Keys are found in ${counted(info.live_slices, 'slice')}; the fullest has ${count(fullest)}. ${
      remembered}</p>`);
  }

  /* ---- The fill of each segment's parts. The cells of one level make one path, which keeps the page small. */

  const HEAT_LEVELS = 40;

  function heat_segment(segment, fill, columns) {
    const rows = fill.some(part => part > 0) ? fill.length / columns : 1; /* no grey block */
    const levels = Array.from({length: HEAT_LEVELS + 1}, () => []);
    fill.forEach((part, i) => levels[Math.round(clamped(part) * HEAT_LEVELS)].push(
      `M${i % columns} ${Math.floor(i / columns)}h.9v.9h-.9z`));
    const paths = levels.map((cells, level) => cells.length === 0 ? ''
      : html`<path fill-opacity="${level / HEAT_LEVELS}" d="${cells}"/>`);
    return html`<div class="strip"><span>${segment.number}</span><svg class="heat" viewBox="0 0 ${columns} ${rows}"
      role="img" aria-label="fill of segment ${segment.number}: ${share(segment.fill)}" data-fill="${
      fill.join(' ')}"><rect width="${columns}" height="${rows}"/>${paths}</svg></div>`;
  }
  function chart_heat({info, fill, columns}) {
    const parts = fill.flat(), greatest = most(parts, 0), least = -most(parts.map(part => -part), -1);
    const bytes = sum(info.segments.map(s => s.m_bits * (s.counter_bits || 1) / 8)) / parts.length;
    const part_size = bytes >= 1 ? size(bytes) : +(8 * bytes).toPrecision(2) + ' bits';
    const range = greatest > 0 ? `from ${share(least)} to ${share(greatest)}` : 'all are empty';
    const maps = info.segments.map((segment, i) => heat_segment(segment, fill[i], columns));
    return figure(html`Fill over the file<span class="scale">0 <i></i> 100 %</span>`, html`<div class="strips"
      tabindex="0" role="group" aria-label="fill of the segments">${maps}</div><p class="note">${
      parts.length} parts of about ${part_size}: ${range} <output></output></p>`);
  }

  /* ---- Segments and generations. */

  function chart_segments({info}) {
    const longest = most(info.segments.flatMap(segment => [segment.capacity, segment.items]), 1);
    const headings = ['segment', ['items of capacity'], ['fill'], ['rate'], ['size', ' more']];
    const rows = info.segments.map(segment => html`<tr><td>${segment.number}</td>${[
      bar(segment.items / longest, segment.capacity / longest),
      cell(`${count(segment.items)} of ${count(segment.capacity)}`), cell(share(segment.fill)),
      cell(rate(segment.fp_rate_now)), cell(size(segment.size_bytes), ' more')]}</tr>`);
    return figure('Growth by segment', bars('growth by segment', headings, rows));
  }
  /* Times of generations in milliseconds; those of one second, which is all that is known, are spread over it. */
  function times_of(generations) {
    const seconds = generations.map(generation => Date.parse(generation.published_at));
    return seconds.map((second, i) => second +
      1000 * (i - seconds.indexOf(second)) / seconds.filter(other => other === second).length);
  }
  function time_line(generations, greatest) {
    const times = times_of(generations), last = times.length - 1;
    const x = i => one(14 + (RIGHT - 14) * clamped((times[i] - times[0]) / (times[last] - times[0])));
    const y = i => one(84 - 68 * generations[i].items / greatest);
    return html`<svg class="line" viewBox="0 0 480 110" role="img" aria-label="items of generations over time"><path
      class="axis" d="M14 84H470"/><path class="curve" d="${generations.map((generation, i) =>
      `${i > 0 ? 'L' : 'M'}${x(i)} ${y(i)}`)}"/>${generations.map(({state}, i) => html`<circle
      class="${state === 'in-force' ? 'now' : 'kept'}" cx="${x(i)}" cy="${y(i)}" r="${state === 'in-force' ? 5 : 3}"/>`)
    }<text x="14" y="104">${generations[0].published_at}</text><text class="end" x="470" y="104">${
      generations[last].published_at}</text></svg>`;
  }
  function chart_generations({generations}) {
    const greatest = most(generations.map(generation => generation.items), 1);
    const headings = ['generation', ['items'], ['size', ' more'], ['published']];
    const rows = generations.map(each => html`<tr${each.state === 'in-force' ? html` class="in-force"` : ''}><td>${
      each.generation}${each.state === 'in-force' ? ' in force' : ''}</td>${bar(each.items / greatest, 0)}${
      cell(count(each.items))}${cell(size(each.size_bytes), ' more')}${cell(each.published_at.split('T').map((part, i) =>
      i > 0 ? html`<wbr>T${part}` : part))}</tr>`);
    return figure('Generations', html`${generations.length > 1 ? time_line(generations, greatest) : ''}${
      bars('generations', headings, rows.reverse())}`);
  }

  /* ---- A section for each filter. */

  function tile(label, value, note) {
    return html`<div class="tile"><span>${label}</span><strong>${value}</strong><small>${note}</small></div>`;
  }
  function tiles(filter) {
    const {info, generations, rate: {by_items}} = filter;
    const kept = generations.length > 1 ? `${generations.length - 1} kept beside it` : 'no other is kept';
    return html`<div class="tiles">${[
      tile('items', datum(filter, 'items', count), `${share(full_share(info))} of capacity`),
      tile('rate now', datum(filter, 'fp_rate_now', rate), html`${rate(info.fp_rate)} asked for; <span
        data-by-items="${by_items}">${rate(by_items)}</span> by the items`),
      tile('fill', datum(filter, 'fill', share), info.counter_bits ? 'of the counters above 0'
        : info.fingerprint_bits ? 'of the fingerprints not 0' : 'of the bits set'),
      tile('size', datum(filter, 'size_bytes', size), `${digits(info.bits_per_key || 0)} bits a key`),
      filter.published ? tile('generation', generation(filter), kept)
        : tile('made', datum(filter, 'created_at', text => text.slice(0, 10)), 'never replaced by a build, merge or import'),
      tile('exceptions', count(info.exceptions), 'keys answer absent')]}</div>\n`;
  }
  function all_figures(filter) {
    const fields = Object.keys(filter.info).filter(field => !Array.isArray(filter.info[field]));
    return html`<details class="fields"><summary>All figures</summary><dl>${fields.map(field => html`<div><dt>${
      field}</dt><dd>${datum(filter, field, plain)}</dd></div>`)}</dl></details>\n`;
  }
  function section(filter) {
    const {error, info} = filter, state = error ? 'damaged' : info.state;
    const open = filters.length <= OPEN_AT_MOST || state !== 'ok';
    const charts = [chart_rate, chart_window, chart_heat, chart_segments, ...filter.published ? [chart_generations] : []];
    const mood = state === 'ok' ? 'note' : 'trouble'; /* a warning's color only where the badge has one */
    const content = error ? html`<p class="trouble">${error}</p>` : [
      info.note ? html`<p class="${mood}">${info.note}</p>\n` : '', tiles(filter),
      html`<div class="charts">\n${charts.map(chart => chart(filter))}</div>\n`, all_figures(filter)];
    return html`<details class="panel filter" id="f${filter.index}"${open ? html` open` : ''}><summary><h2>${
      name_of(filter)}</h2>${badge(state)}</summary>\n${content}</details>\n`;
  }
  function sums() {
    const infos = filters.filter(filter => !filter.error).map(filter => filter.info);
    const more = name => rest ? +rest.dataset[name] : 0;
    return `${counted(filters.length + more('filters'), 'filter')}, ${
      counted(sum(infos.map(info => info.items)) + more('items'), 'item')}, ${
      size(sum(infos.map(info => info.size_bytes)) + more('size'))} \u00b7 `;
  }

  main.innerHTML = html`\n${attention()}${catalog()}${filters.map(section)}`.text;
  if (rest) document.getElementById('catalog').parentNode.after(rest);
  document.getElementById('sums').textContent = sums();

  /* ---- Opening, finding, sorting, and telling of a part. */

  function show() {
    const at = document.getElementById(location.hash.slice(1));
    if (at && at.tagName === 'DETAILS') {
      at.open = true;
      at.scrollIntoView();
    }
  }
  addEventListener('hashchange', show);
  show();
  addEventListener('beforeprint', () => {
    document.querySelectorAll('details').forEach(details => { details.open = true; });
  });

  const table = document.getElementById('catalog'), body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells).filter(head => head.tagName === 'TH');
  const find = document.getElementById('find'), found = document.getElementById('found');
  Array.from(body.rows).forEach((row, i) => { row.dataset.order = i; });
  if (find) find.addEventListener('input', () => {
    const want = find.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(want);
    const shown = Array.from(body.rows).filter(row => !row.hidden).length;
    found.textContent = want ? `${shown} of ${body.rows.length}` : '';
  });
  function key(row, i) { /* what a row is sorted by */
    if (i === 0) return +row.dataset.order;
    const cell = row.cells[i], data = cell && cell.querySelector('data');
    const value = data ? JSON.parse(data.getAttribute('value')) : cell ? cell.textContent : '';
    return value === null ? -1 : value;
  }
  function compare(a, b) { /* numbers before text */
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sort(head) {
    const i = head.cellIndex, up = head.getAttribute('aria-sort') !== 'ascending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const rows = Array.from(body.rows, row => [key(row, i), row]);
    rows.sort((a, b) => compare(a[0], b[0]) * (up ? 1 : -1));
    rows.forEach(([, row]) => body.appendChild(row));
  }
  heads.forEach(head => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.textContent = '';
    head.appendChild(button);
    button.addEventListener('click', () => sort(head));
  });
  document.addEventListener('pointermove', event => {
    const map = event.target.closest && event.target.closest('svg.heat');
    if (!map) return;
    const box = map.getBoundingClientRect(), size = map.viewBox.baseVal;
    const x = Math.floor((event.clientX - box.left) / box.width * size.width);
    const y = Math.floor((event.clientY - box.top) / box.height * size.height);
    const part = y * size.width + x, fill = map.dataset.fill.split(' ')[part];
    if (fill !== undefined) map.closest('figure').querySelector('output').textContent =
      `\u00b7 part ${part + 1}: ${(100 * fill).toFixed(1)} %`;
  });
})();
