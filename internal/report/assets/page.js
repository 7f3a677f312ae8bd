"use strict";
// Draws the charts over time from the data in the page. The plots stay reachable as window.ebscope.charts.
(() => {
  // CSS pixels that fit on A4 and on Letter, for the chart at the top and for those beside a table.
  const printWidth = {lead: 664, other: 300};
  const dense = 4000; // points in a series: several for each pixel
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
  // A place between seconds keeps the digits of its step, or neighbours would read alike: "20 min 34.05 s".
  const digitsOf = step => Math.max(0, Math.ceil(-Math.log10(step)));
  const place = (t, step) => {
    const digits = digitsOf(step);
    if (!digits) return span(t);
    const at = +t.toFixed(digits), minutes = Math.floor(at / 60);
    return (minutes ? minutes + " min " : "") + (at - 60 * minutes).toFixed(digits) + " s";
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

  // Times come as runs of equal steps, in thousandths.
  function times(steps) {
    const all = [];
    for (let i = 0, at = 0; i < steps.length; i += 2) {
      for (let n = steps[i + 1]; n > 0; n--) all.push((at += steps[i]) / 1000);
    }
    return all;
  }

  // The value of a step line at x: that of the window which ends next.
  function valueAt(line, x) {
    let low = 0, high = line.t.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (line.t[middle] < x) low = middle + 1; else high = middle;
    }
    return low < line.t.length ? line.v[low] : null;
  }

  // What the axes of each kind of chart say of a place.
  const percentile = x => `p${(100 * (1 - 10 ** -x)).toLocaleString("en-US", {maximumSignificantDigits: x < 1 ? 2 : Math.floor(x) + 2})}`;
  const words = {
    ladder: {x: percentile, y: v => number(10 ** v)},
    histogram: {x: x => `${number(10 ** x)} ms`, y: number},
    heat: {x: span, y: v => number(10 ** v)},
    sweep: {x: x => `${number(10 ** x)} in flight`, y: v => number(10 ** v)},
  };

  // Draws the fields of a heat map below the grid. Fields are never thinner than two pixels: a single slow I/O shows.
  function heat(spec) {
    const {from, to, edges} = spec.cells, rows = edges.length - 1;
    const shades = Uint8Array.from(atob(spec.cells.shades), c => c.charCodeAt(0));
    const stops = () => [0, 1, 2, 3, 4].map(i => colour(`--h${i}`)).map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
    const mix = (all, shade) => {
      const at = (shade - 1) / 254 * 4, i = Math.min(3, Math.floor(at));
      return `rgb(${all[i].map((a, n) => Math.round(a + (at - i) * (all[i + 1][n] - a)))})`;
    };
    return {hooks: {draw: u => {
      const {ctx, bbox} = u, all = stops();
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (let c = 0; c < from.length; c++) {
        const left = Math.round(u.valToPos(from[c], "x", true)), right = Math.round(u.valToPos(to[c], "x", true));
        if (right < bbox.left || left > bbox.left + bbox.width) continue;
        for (let r = 0; r < rows; r++) {
          const shade = shades[c * rows + r];
          if (!shade) continue;
          const top = Math.round(u.valToPos(edges[r + 1], "y", true)), bottom = Math.round(u.valToPos(edges[r], "y", true));
          ctx.fillStyle = mix(all, shade);
          ctx.fillRect(left, top, Math.max(2, right - left), Math.max(2, bottom - top));
        }
      }
      ctx.restore();
    }}};
  }

  // Tints where the rate stalled, never thinner than two pixels, and draws the rate that is not allowed to be passed.
  function noteworthy(spec) {
    return {hooks: {
      drawClear: u => {
        const {ctx, bbox} = u;
        ctx.save();
        ctx.fillStyle = colour("--bad") + "33";
        for (const s of spec.stalls || []) {
          const left = Math.max(bbox.left, u.valToPos(s.from, "x", true)), right = Math.min(bbox.left + bbox.width, u.valToPos(s.to, "x", true));
          if (right > bbox.left && left < bbox.left + bbox.width) ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
        }
        ctx.restore();
      },
      draw: u => {
        const {ctx, bbox} = u;
        ctx.save();
        ctx.strokeStyle = colour("--bad");
        ctx.lineWidth = 1.5 * devicePixelRatio;
        ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
        for (const at of spec.bounds || []) {
          const y = u.valToPos(at, "y", true);
          ctx.beginPath();
          ctx.moveTo(bbox.left, y);
          ctx.lineTo(bbox.left + bbox.width, y);
          ctx.stroke();
        }
        ctx.restore();
      },
    }};
  }

  function readout(spec) {
    const node = document.createElement("p");
    node.className = "readout";
    node.setAttribute("aria-hidden", "true");
    return {hooks: {
      ready: u => u.over.appendChild(node),
      setCursor: u => {
        if (u.cursor.left < 0) return void (node.textContent = "");
        const x = u.posToVal(u.cursor.left, "x"), say = words[spec.kind] || {x: span, y: number};
        if (spec.cells) return void (node.textContent = `${say.x(x)} · ${say.y(u.posToVal(u.cursor.top, "y"))} ${spec.unit}`);
        const values = spec.series.filter(s => !s.predicted).map(s => [s.label, valueAt(s, x)]).filter(([, v]) => v != null);
        node.textContent = [say.x(x), ...values.map(([label, v]) => `${label} ${say.y(v)} ${spec.unit}`)].join(" · ");
      },
    }};
  }

  function plot(spec, node) {
    const large = !!node.closest(".lead");
    const wide = !!node.closest(".wide");
    const size = width => ({width, height: wide ? 260 : large ? Math.round(Math.min(400, Math.max(250, width * 0.4))) : 210});
    const [unit, unitName] = timeUnit(spec.span);
    const font = "12px " + getComputedStyle(document.body).fontFamily;
    const axis = {
      stroke: () => colour("--quiet"), font, labelFont: font,
      grid: {stroke: () => colour("--grid"), width: 1}, ticks: {show: false},
    };
    const time = !spec.x, places = axis => ({splits: () => axis.ticks.map(t => t.at), values: () => axis.ticks.map(t => t.label)});
    const measured = spec.series.filter(s => !s.predicted).length;
    let drawn = 0;
    const series = spec.series.map(s => ({
      label: s.label + (s.predicted ? " predicted" : ""),
      stroke: () => colour(`--${s.predicted ? "p" : "v"}${s.colour}`),
      // Lines that lie on each other stay visible: the first is the widest. So many points that they make a band do not need it.
      width: s.predicted ? 1.2 : s.t.length > dense ? 1.4 : (large ? 2.6 : 2.2) + 2.8 * (measured - ++drawn),
      dash: s.predicted ? [4, 7] : undefined,
      fill: spec.kind === "histogram" ? () => colour(`--v${s.colour}`) + "44" : undefined,
      // A value is the mean of the window that ends there, or the latency up to that percentile.
      paths: s.dots ? uPlot.paths.linear() : uPlot.paths.stepped({align: -1}),
      points: {show: !!s.dots, size: 7},
    }));
    // Between the extremes within each window lies a band, whose edge shows a single one.
    const bands = [], extremes = [];
    for (const s of spec.series.filter(s => s.high)) {
      bands.push({series: [series.length + 1, series.length + 2], fill: () => colour(`--v${s.colour}`) + "66"});
      for (const values of [s.high, s.low]) {
        extremes.push([s.t, values]);
        series.push({label: s.label + " extremes", stroke: () => colour(`--v${s.colour}`) + "66", width: 1, paths: uPlot.paths.stepped({align: -1}), points: {show: false}});
      }
    }
    if (spec.cells) series.push({paths: () => null, points: {show: false}});
    const options = {
      ...size(node.clientWidth), series: [{}, ...series], bands,
      scales: {
        x: {time: false, range: (u, min, max) => min !== u.data[0][0] ? [min, max] : time ? [0, spec.span] : [spec.x.low, spec.x.high]},
        y: {range: (u, min, max) => spec.y ? [spec.y.low, spec.y.high] : [0, (max || 1) * 1.06]},
      },
      axes: [
        spec.x ? {...axis, label: spec.x.label, labelSize: 20, size: 28, gap: 6, ...places(spec.x)} :
        {...axis, label: unitName + (spec.compressed ? " of the volume's own time" : ""), labelSize: 20, size: 28, gap: 6, incrs: [...[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].filter(x => x < unit), ...[1, 2, 5, 10, 15, 20, 30, 60, 120].map(x => x * unit)],
          // Zoomed in so far that the unit is too coarse, the places are told in full.
          space: (u, i, min, max) => max - min < 4 * unit ? 100 : 50,
          values: (u, ticks, i, space, step) => ticks.map(t => step < unit && unit > 1 ? place(t, step) : step < 1 ? t.toFixed(digitsOf(step)) : number(t / unit))},
        {...axis, size: 58, gap: 6, ...(spec.y ? places(spec.y) : {values: (u, ticks) => ticks.map(number)})},
      ],
      padding: spec.above && spec.marks.length ? [u => u.width < 500 ? 66 : 52, null, null, null] : undefined,
      legend: {show: false},
      cursor: {y: !!spec.cells, points: {show: false}, drag: {x: time, y: false}}, // two clicks show the whole again
      plugins: [marks(spec), noteworthy(spec), readout(spec), ...(spec.cells ? [heat(spec)] : [])],
    };
    // Both volumes' windows end at times of their own: join fills the other's with undefined, which breaks no line.
    const data = spec.cells ? [[0, spec.span], [spec.y.low, spec.y.high]] : uPlot.join([...spec.series.map(s => [s.t, s.v]), ...extremes]);
    const u = new uPlot(options, data, node);
    return {u, node, large: large || wide, resize: width => u.setSize(size(width))};
  }

  const plots = [];
  for (const spec of JSON.parse(document.getElementById("charts").textContent)) {
    for (const s of spec.series) s.t = times(s.steps);
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
