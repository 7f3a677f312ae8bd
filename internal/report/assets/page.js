"use strict";
// Draws the charts over time from the data in the page. The plots stay reachable as window.ebscope.charts.
(() => {
  // CSS pixels that fit on A4 and on Letter, for the chart at the top and for those beside a table.
  const printWidth = {lead: 664, other: 300};
  const root = document.documentElement;
  const colour = name => getComputedStyle(root).getPropertyValue(name).trim();
  const number = x => x.toLocaleString("en-US", {maximumFractionDigits: x < 10 ? 2 : x < 100 ? 1 : 0});
  const span = s => {
    if (s < 60) return number(s) + " s";
    const whole = Math.round(s);
    const [large, small, names] = whole < 7200
      ? [Math.floor(whole / 60), whole % 60, ["min", "s"]]
      : [Math.floor(whole / 3600), Math.floor(whole % 3600 / 60), ["h", "min"]];
    return `${large} ${names[0]}` + (small ? ` ${small} ${names[1]}` : "");
  };

  // The axis counts in one unit, named once in its label.
  const timeUnit = seconds => seconds > 4 * 3600 ? [3600, "hours"] : seconds > 180 ? [60, "minutes"] : [1, "seconds"];

  function marks(spec) {
    const added = [];
    return {hooks: {
      init: u => { // before the first draw
        for (const m of spec.marks) {
          const node = document.createElement("div");
          node.className = spec.above ? "mark above" : "mark";
          const text = node.appendChild(document.createElement("p"));
          text.appendChild(document.createElement("strong")).textContent = m.title;
          text.append(m.text);
          u.over.appendChild(node);
          added.push([m, node]);
        }
      },
      draw: u => {
        for (const [m, node] of added) {
          const x = u.valToPos(m.at, "x"), width = u.over.clientWidth, left = x > width / 2;
          node.style.left = x + "px";
          node.style.display = x < 0 || x > width ? "none" : "";
          node.style.setProperty("--room", (left ? x : width - x) - 16 + "px");
          node.classList.toggle("left", left);
          // Between the levels there is room for the words.
          if (!spec.above) node.firstChild.style.top = u.valToPos((m.before + m.after) / 2, "y") + "px";
        }
      },
    }};
  }

  // The value of a step line at x: that of the window which ends next.
  function valueAt(line, x) {
    const i = line.t.findIndex(t => t >= x);
    return i < 0 ? null : line.v[i];
  }

  function readout(spec) {
    const node = document.createElement("p");
    node.className = "readout";
    node.setAttribute("aria-hidden", "true");
    return {hooks: {
      ready: u => u.over.appendChild(node),
      setCursor: u => {
        if (u.cursor.left < 0) return void (node.textContent = "");
        const x = u.posToVal(u.cursor.left, "x");
        const values = spec.series.filter(s => !s.predicted).map(s => [s.label, valueAt(s, x)]).filter(([, v]) => v != null);
        node.textContent = [span(x), ...values.map(([label, v]) => `${label} ${number(v)} ${spec.unit}`)].join(" · ");
      },
    }};
  }

  function plot(spec, node) {
    const large = !!node.closest(".lead");
    const size = width => ({width, height: large ? Math.round(Math.min(400, Math.max(250, width * 0.4))) : 210});
    const [unit, unitName] = timeUnit(spec.span);
    const font = "12px " + getComputedStyle(document.body).fontFamily;
    const axis = {
      stroke: () => colour("--quiet"), font, labelFont: font,
      grid: {stroke: () => colour("--grid"), width: 1}, ticks: {show: false},
    };
    const measured = spec.series.filter(s => !s.predicted).length;
    let drawn = 0;
    const series = spec.series.map(s => ({
      label: s.label + (s.predicted ? " predicted" : ""),
      stroke: () => colour(`--${s.predicted ? "p" : "v"}${s.colour}`),
      // Lines that lie on each other stay visible: the first is the widest.
      width: s.predicted ? 1.2 : (large ? 2.6 : 2.2) + 2.8 * (measured - ++drawn),
      dash: s.predicted ? [4, 7] : undefined,
      paths: uPlot.paths.stepped({align: -1}), // a value is the mean of the window that ends there
      points: {show: false},
    }));
    const options = {
      ...size(node.clientWidth), series: [{}, ...series],
      scales: {x: {time: false, range: (u, min, max) => min === u.data[0][0] ? [0, spec.span] : [min, max]}, y: {range: (u, min, max) => [0, (max || 1) * 1.06]}},
      axes: [
        {...axis, label: unitName + (spec.compressed ? " of the volume's own time" : ""), labelSize: 20, size: 28, gap: 6, incrs: [1, 2, 5, 10, 15, 20, 30, 60, 120].flatMap(x => [x / 100, x * unit]).sort((a, b) => a - b), values: (u, ticks) => ticks.map(t => number(t / unit))},
        {...axis, size: 58, gap: 6, values: (u, ticks) => ticks.map(number)},
      ],
      padding: spec.above && spec.marks.length ? [u => u.width < 500 ? 66 : 52, null, null, null] : undefined,
      legend: {show: false},
      cursor: {y: false, points: {show: false}, drag: {x: large, y: false}},
      plugins: [marks(spec), readout(spec)],
    };
    // Both volumes' windows end at times of their own: join fills the other's with undefined, which breaks no line.
    const data = uPlot.join(spec.series.map(s => [s.t, s.v]));
    const u = new uPlot(options, data, node);
    return {u, node, large, resize: width => u.setSize(size(width))};
  }

  const plots = [];
  for (const spec of JSON.parse(document.getElementById("charts").textContent)) {
    const node = document.getElementById(spec.id);
    if (node) plots.push(plot(spec, node));
  }
  window.ebscope = {charts: plots.map(p => p.u)};

  const observer = new ResizeObserver(() => {
    if (root.hasAttribute("data-print")) return;
    for (const p of plots) if (p.node.clientWidth && p.node.clientWidth !== p.u.width) p.resize(p.node.clientWidth);
  });
  for (const p of plots) observer.observe(p.node);

  // Colours come from the style sheet, so a change of scheme needs a redraw; so does print, which is light and narrower.
  const redraw = () => plots.forEach(p => p.u.redraw(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => {
    root.setAttribute("data-print", "");
    for (const p of plots) p.resize(p.large ? printWidth.lead : printWidth.other);
  });
  addEventListener("afterprint", () => {
    root.removeAttribute("data-print");
    for (const p of plots) p.resize(p.node.parentElement.clientWidth);
    redraw();
  });
})();
