// The ledger's search: added to tables that are whole without it. A claim's own link always
// shows its claim, whatever is being searched for.

var ledger = document.getElementById('sec-ledger');
var marks = ledger ? Array.from(ledger.querySelectorAll('tr [id^="claim-"]')) : [];
if (!marks.length) return; // the page wraps each script in a function

// quotes and accents as a keyboard has them: "tom's" finds what is printed with ’
function plain(text) {
  return text.toLowerCase().replace(/[‘’]/g, "'").replace(/[“”"]/g, '').normalize('NFD').replace(/[\u0300-\u036f]/g, '');
}

// the texts of a row once, so that typing stays quick
var claims = marks.map(function (mark) {
  var row = mark.closest('tr');
  return {
    row: row,
    topic: mark.closest('section'),
    verdict: row.cells[2].textContent.trim(),
    source: row.cells[1].textContent,
    text: plain(row.textContent)
  };
});
var topics = Array.from(new Set(claims.map(function (claim) { return claim.topic; })));
var verdicts = Array.from(new Set(claims.map(function (claim) { return claim.verdict; }))).sort();

// "publisher, place; publisher, place": what stands before the first comma is the source
var sources = Array.from(new Set(claims.flatMap(function (claim) {
  return claim.source.split(';').map(function (said) { return said.split(',')[0].trim(); });
}))).filter(Boolean).sort();

function heading(topic) {
  var title = topic.querySelector('h2, h3, h4').cloneNode(true);
  var number = title.querySelector('.header-section-number');
  if (number) number.remove();
  return title.textContent.trim();
}

function field(label, control) {
  var line = document.createElement('label');
  line.append(label + ' ', control);
  return line;
}

function choice(label, options) {
  var select = document.createElement('select');
  select.add(new Option('all', ''));
  options.forEach(function (option) { select.add(new Option(option[0], option[1])); });
  form.append(field(label, select));
  return select;
}

var form = document.createElement('form');
form.className = 'ledger-search';
form.setAttribute('role', 'search');
form.setAttribute('aria-label', 'Search the ledger');
var words = document.createElement('input');
words.type = 'search';
form.append(field('Words', words));
var topic = choice('Topic', topics.map(function (each, index) { return [heading(each), index]; }));
var verdict = choice('Verdict', verdicts.map(function (each) { return [each, each]; }));
var source = choice('Source', sources.map(function (each) { return [each, each]; }));
var reset = document.createElement('button');
reset.type = 'reset';
reset.textContent = 'Show all';
form.append(reset);
var count = document.createElement('p');
count.setAttribute('role', 'status');
form.append(count);
topics[0].before(form);

function show() {
  var wanted = plain(words.value).split(/\s+/).filter(Boolean);
  var shown = 0, alive = new Set();
  claims.forEach(function (claim) {
    var fits = (!verdict.value || claim.verdict === verdict.value)
      && (topic.value === '' || claim.topic === topics[topic.value])
      && (!source.value || claim.source.split(';').some(function (said) {
        return said.split(',')[0].trim() === source.value;
      }))
      && wanted.every(function (word) { return claim.text.indexOf(word) >= 0; });
    claim.row.hidden = !fits;
    if (fits) { shown += 1; alive.add(claim.topic); }
  });
  topics.forEach(function (each) { each.hidden = !alive.has(each); });
  count.textContent = shown ? shown + ' of ' + claims.length + ' claims'
    : 'None of the ' + claims.length + ' claims fits all of this.';
}

form.addEventListener('input', show);
form.addEventListener('submit', function (event) { event.preventDefault(); });
// a reset event comes before the fields are emptied
form.addEventListener('reset', function () { setTimeout(show, 0); });

function showLinked() {
  if (location.hash.indexOf('#claim-') !== 0) return;
  var linked = document.getElementById(location.hash.slice(1));
  if (!linked || !linked.closest('tr').hidden) return;
  form.reset();
  show();
  linked.scrollIntoView();
}
addEventListener('hashchange', showLinked);
show();
