// What the page does beyond being read. Everything here adds to a page that is whole without it:
// the contents open beside the text, numbers show their evidence, charts answer their controls.

// -- contents: beside the text where there is room, closed above it on a phone

var contents = document.querySelector('#TOC details');
if (contents) contents.open = matchMedia('(min-width: 75rem)').matches;

// -- tooltips: what the trace says of a number, on hover and on focus

// One tooltip serves all numbers. It takes its words from the trace entry, so that there is one
// place where they stand; the title attribute that serves without scripts would show them twice.
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
    if (!/^(Interval|Formula|From)$/.test(row.firstChild.textContent)) return;
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
  link.removeAttribute('title');
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

// -- charts: the static picture stays until its interactive twin is drawn, and for good where
// that fails

function comeAlive(chart) {
  var spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  var still = chart.querySelector('svg');
  var live = document.createElement('div');
  live.className = 'chart-live';
  if (!spec.vconcat && !spec.hconcat && !spec.concat && !spec.facet) spec.width = 'container';
  chart.appendChild(live);
  vegaEmbed(live, spec, { ast: true, actions: false, renderer: 'svg' }).then(function () {
    live.setAttribute('role', 'img');
    live.setAttribute('aria-label', still.getAttribute('aria-label'));
    still.remove();
  }).catch(function () { live.remove(); });
}
document.querySelectorAll('.chart[data-spec]').forEach(comeAlive);
