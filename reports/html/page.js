(() => {
  "use strict";
  const root = document.documentElement;
  const page = JSON.parse(document.getElementById("lsmlens-data").textContent);

  // The theme follows the system until the button is used; a page may be opened where nothing can be stored.
  const stored = { get() { try { return localStorage.getItem("theme"); } catch { return null; } },
                   set(theme) { try { localStorage.setItem("theme", theme); } catch { /* then for this time only */ } } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("lsmlens-theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const label = () => { button.setAttribute("aria-pressed", String(isDark())); button.textContent = isDark() ? "Light theme" : "Dark theme"; };
  if (["light", "dark"].includes(stored.get())) root.dataset.theme = stored.get();
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; stored.set(root.dataset.theme); label(); });
  system.addEventListener("change", label);
  label();

  // Paper has no summaries to open; what the print opened closes after it.
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("main details:not([open])")) { one.open = true; one.dataset.printed = ""; }
  });
  addEventListener("afterprint", () => {
    for (const one of document.querySelectorAll("details[data-printed]")) { one.open = false; delete one.dataset.printed; }
  });

  const rows = {};
  const dataset = (name) => rows[name] ??= page.datasets[name].rows.map(
    (row) => Object.fromEntries(page.datasets[name].fields.map((field, place) => [field, row[place]])));
  const named = (spec, found = new Set()) => {
    if (Array.isArray(spec)) spec.forEach((part) => named(part, found));
    else if (spec && typeof spec === "object") {
      if (spec.data && page.datasets[spec.data.name]) found.add(spec.data.name);
      Object.values(spec).forEach((part) => named(part, found));
    }
    return found;
  };
  // On a narrow screen labels take at most some of the width, and several legends stand below each other.
  const narrowed = (spec, width) => JSON.parse(JSON.stringify(spec, (key, value) => {
    const most = 0.42 * width;
    if (value && value.minExtent > most) return { ...value, minExtent: most, maxExtent: most, labelLimit: most - 8 };
    return key === "columns" && value > 2 ? 2 : value;
  }));
  const draw = async (place) => {
    const width = place.clientWidth;
    const isNarrow = width < 560;
    const whole = page.charts[Number(place.dataset.chart)];
    const spec = isNarrow ? narrowed(whole, width) : whole;
    const stacked = { ...page.config.legend, columns: 2, layout: { top: { direction: "vertical" } } };
    const config = isNarrow ? { ...page.config, legend: stacked } : page.config;
    const datasets = Object.fromEntries([...named(spec)].map((name) => [name, dataset(name)]));
    try {
      await vegaEmbed(place, { ...spec, datasets }, {
        mode: "vega-lite", renderer: "svg", actions: false, config, tooltip: { disableDefaultStyle: true },
      });
    } catch (error) {
      place.textContent = `This chart could not be drawn (${error.message}); the table below holds its figures.`;
    }
  };
  (async () => {
    for (const place of document.querySelectorAll("[data-chart]")) {
      await draw(place);
      await new Promise((resume) => setTimeout(resume));
    }
    root.dataset.charts = "drawn";
  })();
})();
