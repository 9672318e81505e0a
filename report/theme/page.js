// Brings the charts to life: the static picture stays until its interactive twin is drawn,
// and stays for good where that fails.
function comeAlive(chart) {
  var spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  var still = chart.querySelector('svg');
  var live = document.createElement('div');
  live.className = 'chart-live';
  if (!spec.vconcat && !spec.hconcat && !spec.concat && !spec.facet) spec.width = 'container';
  chart.appendChild(live);
  vegaEmbed(live, spec, { ast: true, actions: false, renderer: 'svg' }).then(function () {
    var alt = still.getAttribute('aria-label');
    live.setAttribute('role', 'img');
    live.setAttribute('aria-label', alt);
    still.remove();
  }).catch(function () { live.remove(); });
}
document.querySelectorAll('.chart[data-spec]').forEach(comeAlive);
