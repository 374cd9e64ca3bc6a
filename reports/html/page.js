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

  // Paper has no summaries to open, but figures stand in the charts already; what the print opened closes after it.
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("main details:not([open], .figures)")) { one.open = true; one.dataset.printed = ""; }
  });
  addEventListener("afterprint", () => {
    for (const one of document.querySelectorAll("details[data-printed]")) { one.open = false; delete one.dataset.printed; }
  });

  for (const block of document.querySelectorAll("pre.commands")) {
    const copy = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.textContent);
        copy.textContent = "Copied";
      } catch { // a page without leave to use the clipboard: select it, for the keyboard to copy
        getSelection().selectAllChildren(block);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    block.before(copy);
  }

  // A table is sorted by the column whose heading is clicked, and the other way round by the next click; what is not
  // known stays at the end.
  const units = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, "µs": 1e-6, ms: 1e-3, min: 60, h: 3600 };
  const words = new Intl.Collator("en", { numeric: true });
  const amount = (text) => {
    const found = text.replace(/[\u202f\u00a0]/g, "").match(/^(x?)([+-]?\d+(?:\.\d+)?)\s*(\S*)/);
    if (!found) return null;
    return found[1] ? 100 * (Number(found[2]) - 1) : Number(found[2]) * (units[found[3]] ?? 1); // a factor among per cents
  };
  for (const table of document.querySelectorAll("main table")) {
    const [body] = table.tBodies;
    if (!table.tHead || body.rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      if (!heading.textContent.trim()) return;
      const cell = (row) => row.cells[column].textContent.trim();
      const sort = Object.assign(document.createElement("button"), { type: "button", className: "sort" });
      sort.append(...heading.childNodes);
      heading.append(sort);
      sort.addEventListener("click", () => {
        const known = [...body.rows].filter((row) => !["", "-"].includes(cell(row)));
        const others = [...body.rows].filter((row) => !known.includes(row));
        const isAmount = known.every((row) => amount(cell(row)) !== null);
        const before = heading.ariaSort;
        const isFalling = before ? before === "ascending" : isAmount;
        known.sort((one, other) => isAmount ? amount(cell(one)) - amount(cell(other)) : words.compare(cell(one), cell(other)));
        body.append(...(isFalling ? known.reverse() : known), ...others);
        for (const one of table.tHead.rows[0].cells) one.ariaSort = null;
        heading.ariaSort = isFalling ? "descending" : "ascending";
      });
    });
  }

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
  // On a narrow screen labels take at most some of the width; legends stand below each other, in columns that hold them.
  const narrowed = (spec, width) => JSON.parse(JSON.stringify(spec, (key, value) => {
    const most = 0.42 * width;
    if (value?.minExtent > most) return { ...value, minExtent: most, maxExtent: most, labelLimit: most - 8 };
    if (value?.scale?.domain && value.legend !== null && ["color", "shape", "strokeDash"].includes(key)) {
      const longest = Math.max(...value.scale.domain.map((name) => String(name).length));
      return { ...value, legend: { ...value.legend, columns: 7 * longest + 30 > width / 2 ? 1 : 2, labelLimit: width - 40 } };
    }
    return value;
  }));
  // The axis of time as two parameters, which a drag sets; marks beyond it are cut off.
  const zoomed = (spec, { since, until }) => ({
    ...JSON.parse(JSON.stringify(spec, (key, value) => {
      if (key === "mark") return { ...value, clip: true };
      return value?.type === "utc" && "domainMin" in value
        ? { ...value, domainMin: { expr: "since" }, domainMax: { expr: "until" } } : value;
    })),
    params: [{ name: "since", value: since }, { name: "until", value: until }],
  });
  const draw = async (place) => {
    const width = place.clientWidth;
    const isNarrow = width < 560;
    const whole = page.charts[Number(place.dataset.chart)];
    const time = whole.usermeta?.time;
    const fitting = isNarrow ? narrowed(whole, width) : whole;
    const spec = time ? zoomed(fitting, time) : fitting;
    const stacked = { ...page.config.legend, columns: 2, layout: { top: { direction: "vertical" } } };
    const config = isNarrow ? { ...page.config, legend: stacked } : page.config;
    const datasets = Object.fromEntries([...named(spec)].map((name) => [name, dataset(name)]));
    try {
      const { view } = await vegaEmbed(place, { ...spec, datasets }, {
        mode: "vega-lite", renderer: "svg", actions: false, config, tooltip: { disableDefaultStyle: true },
      });
      if (time) zoomable(place, view, time);
    } catch (error) {
      place.textContent = `This chart could not be drawn (${error.message}); the table below holds its figures.`;
    }
  };

  // Drag over a chart of time, and all charts of that run show the stretch; a double click shows the whole again.
  const runs = {};
  const show = (run, since, until) => Promise.all(
    runs[run].map((view) => view.signal("since", since).signal("until", until).runAsync()));
  const zoomable = (place, view, { run, since, until }) => {
    if (!runs[run]) {
      const hint = Object.assign(document.createElement("span"), { className: "faint hint", textContent: " Drag to zoom all charts of this time, double-click to see all of it." });
      place.closest("figure").querySelector("figcaption").append(hint);
    }
    (runs[run] ??= []).push(view);
    place.classList.add("time");
    const svg = place.querySelector("svg");
    const area = () => ({ left: svg.getBoundingClientRect().left + view.origin()[0], width: view.signal("width") });
    const band = Object.assign(document.createElement("div"), { className: "band" });
    place.append(band);
    const within = (event) => { const { left, width } = area(); return Math.min(Math.max(event.clientX - left, 0), width); };
    let from = null;
    place.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch" || event.clientY - svg.getBoundingClientRect().top < view.origin()[1]) return;
      from = within(event);
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const to = within(event);
      const left = area().left - place.getBoundingClientRect().left;
      band.style.cssText = `display: block; left: ${left + Math.min(from, to)}px; width: ${Math.abs(to - from)}px`;
    });
    place.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const [low, high] = [from, within(event)].sort((one, other) => one - other).map((x) => Number(view.scale("x").invert(x)));
      from = null;
      band.style.display = "none";
      if (high - low > (until - since) / 1e4 && high > low) show(run, low, high);
    });
    place.addEventListener("pointercancel", () => { from = null; band.style.display = "none"; });
    place.addEventListener("dblclick", () => show(run, since, until));
  };

  // The page counts as loaded once its charts are drawn: who prints it then, a program too, finds them there.
  const pending = document.createElement("iframe");
  pending.hidden = true;
  document.body.append(pending);
  pending.contentDocument.open();
  (async () => {
    for (const place of document.querySelectorAll("[data-chart]")) {
      await draw(place);
      await new Promise((resume) => setTimeout(resume));
    }
    root.dataset.charts = "drawn";
    pending.contentDocument.close();
    pending.remove();
  })();
})();
