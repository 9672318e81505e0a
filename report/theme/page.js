// What the page does beyond being read. Everything here adds to a page that is whole without it:
// the contents open beside the text, numbers show their evidence, charts answer their controls.

// -- contents: beside the text where there is room, closed above it on a phone

var contents = document.querySelector('#TOC details');
if (contents) contents.open = matchMedia('(min-width: 75rem)').matches;

// -- tooltips: what the trace says of a number, on hover and on focus

// One tooltip serves all numbers; it takes its words from the trace entry.
var tip = document.createElement('div');
tip.id = 'tip';
tip.setAttribute('role', 'tooltip');
tip.hidden = true;
document.body.appendChild(tip);
var tipped = null, closing = 0;

function told(link) {
  var entry = document.getElementById(link.hash.slice(1));
  if (!entry) return false;
  tip.replaceChildren(entry.querySelector('.trace-head').cloneNode(true));
  entry.querySelectorAll('dl > div').forEach(function (row) {
    if (!/^(Interval|Formula|From|Source)$/.test(row.firstChild.textContent)) return;
    var line = document.createElement('p');
    line.textContent = row.firstChild.textContent + ': ' + row.lastChild.textContent;
    tip.appendChild(line);
  });
  return true;
}

function showTip(link) {
  clearTimeout(closing);
  if (tipped === link) return;
  hideTip();
  if (!told(link)) return;
  link.setAttribute('aria-describedby', 'tip');
  tipped = link;
  tip.hidden = false;
  var at = link.getClientRects()[0], box = tip.getBoundingClientRect();
  var below = at.bottom + box.height + 12 < innerHeight || at.top < box.height + 12;
  tip.style.left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - box.width - 8)) + scrollX + 'px';
  tip.style.top = (below ? at.bottom + 4 : at.top - box.height - 4) + scrollY + 'px';
}

function hideTip() {
  clearTimeout(closing);
  if (tipped) tipped.removeAttribute('aria-describedby');
  tipped = null;
  tip.hidden = true;
}

// a moment's grace, so that the pointer can move onto the tooltip and its text be selected
function hideSoon() { closing = setTimeout(hideTip, 250); }

document.querySelectorAll('a.val').forEach(function (link) {
  link.addEventListener('mouseenter', function () { showTip(link); });
  link.addEventListener('focus', function () { showTip(link); });
  link.addEventListener('mouseleave', hideSoon);
  link.addEventListener('blur', hideTip);
  link.addEventListener('click', hideTip);
});
tip.addEventListener('mouseenter', function () { clearTimeout(closing); });
tip.addEventListener('mouseleave', hideSoon);
document.addEventListener('keydown', function (event) { if (event.key === 'Escape') hideTip(); });

// -- charts: drawn when they come near; the static picture serves print, and stays where that fails

// The Vega libraries stand in the page gzipped, a third of their size. Unpacked they become one
// inline script, which the policy allows; wrapped, since their short names must not be globals.
var unpacked = null;

function vega() {
  unpacked = unpacked || Promise.resolve().then(function () {
    var packed = atob(document.getElementById('vega-bundle').textContent);
    var bytes = Uint8Array.from(packed, function (char) { return char.charCodeAt(0); });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  }).then(function (text) {
    var script = document.createElement('script');
    script.textContent = '(function () {' + text + '\n;document.currentScript.embed = vegaEmbed; })();';
    document.head.appendChild(script);
    return script.embed;
  });
  return unpacked;
}

function comeAlive(chart) {
  var spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  // the chart has one description, its text alternative: those of its marks are kept out of it
  var live = document.createElement('div'), drawn = document.createElement('div');
  live.className = 'chart-live';
  drawn.setAttribute('aria-hidden', 'true');
  live.appendChild(drawn);
  live.setAttribute('role', 'img');
  live.setAttribute('aria-label', chart.querySelector('svg').getAttribute('aria-label'));
  // the page's own font, so that Vega measures the labels as they are drawn
  spec.config.font = getComputedStyle(document.body).getPropertyValue('--sans');
  chart.appendChild(live);
  spec.width = 'container';
  return vega().then(function (embed) {
    return embed(drawn, spec, { ast: true, actions: false, renderer: 'svg' });
  }).then(function (made) {
    chart.classList.add('alive');
    return made.view;
  }).catch(function () { live.remove(); });
}

// -- controls: native inputs that parameters of a chart are bound to (they listen to "input")

var drawable = document.getElementById('vega-bundle') && typeof DecompressionStream !== 'undefined';
var forms = !drawable ? [] : Array.from(document.querySelectorAll('form.controls'));

// The address holds what differs from the defaults, and the view last touched:
// #view=ask-power&ask-power.ours=deck
function writeAddress(form) {
  var state = new URLSearchParams();
  forms.forEach(function (each) {
    inputs(each).forEach(function (input) {
      if (input.value !== usual(input)) state.set(each.id + '.' + input.name, input.value);
    });
  });
  var text = state.toString();
  if (text) text = '#view=' + form.id + '&' + text;
  history.replaceState(null, '', text || location.pathname + location.search);
}

function readAddress() {
  if (location.hash.indexOf('#view=') !== 0) return;
  var state = new URLSearchParams(location.hash.slice(1));
  forms.forEach(function (form) {
    inputs(form).forEach(function (input) {
      var wanted = state.get(form.id + '.' + input.name);
      set(input, wanted === null ? usual(input) : wanted);
    });
  });
  var viewed = document.getElementById(state.get('view'));
  if (viewed) viewed.scrollIntoView();
}

function inputs(form) { return Array.from(form.querySelectorAll('input, select')); }

function usual(input) {
  if (input.tagName !== 'SELECT') return input.defaultValue;
  return Array.from(input.options).find(function (option) { return option.defaultSelected; }).value;
}

// A value that the control cannot hold falls back to its default.
function set(input, value) {
  input.value = value;
  if (input.value === '' || !input.checkValidity()) input.value = usual(input);
  input.dispatchEvent(new Event('input'));
}

function showValue(input) {
  var output = input.parentNode.querySelector('output');
  if (output) output.textContent = input.value + output.dataset.unit;
}

function answer(form, lines) {
  form.nextElementSibling.replaceChildren.apply(form.nextElementSibling, lines.map(function (line) {
    var paragraph = document.createElement('p');
    paragraph.textContent = line;
    return paragraph;
  }));
}

function bringUp(form, chart) {
  comeAlive(chart).then(function (view) {
    form.hidden = !view;
    if (!view) return;
    answer(form, view.signal('answer'));
    view.addSignalListener('answer', function (name, lines) { answer(form, lines); });
  });
}

forms.forEach(function (form) {
  form.hidden = false;
  inputs(form).forEach(function (input) {
    input.addEventListener('input', function () { showValue(input); });
  });
  form.addEventListener('input', function () { writeAddress(form); });
  form.addEventListener('submit', function (event) { event.preventDefault(); });
  form.addEventListener('reset', function (event) {
    event.preventDefault();
    inputs(form).forEach(function (input) { set(input, usual(input)); });
    writeAddress(form);
  });
});
readAddress();
addEventListener('hashchange', readAddress);

var near = new IntersectionObserver(function (entries) {
  entries.forEach(function (entry) {
    if (!entry.isIntersecting) return;
    near.unobserve(entry.target);
    bringUp(entry.target.parentNode.querySelector('form.controls'), entry.target);
  });
}, { rootMargin: '600px' });
forms.forEach(function (form) { near.observe(form.parentNode.querySelector('.chart')); });

performance.mark('interactive');
