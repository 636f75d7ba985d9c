// Draws the charts from the tables of the page. Names are only ever set as text.
"use strict";
(() => {
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = cell => (cell.textContent === "-" ? null : Number(cell.textContent));
  const rowsOf = table => [...table.tBodies[0].rows].map(row => [...row.cells].map(number));

  // us as people write it: 0.5 us, 20 ms.
  const duration = us => {
    if (us == null) return "-";
    const [by, unit] = us >= 1e6 ? [1e6, "s"] : us >= 1e3 ? [1e3, "ms"] : us >= 1 ? [1, "us"] : [1e-3, "ns"];
    return `${Number((us / by).toPrecision(4))} ${unit}`;
  };
  const plain = value => (value == null ? "-" : String(Number(value.toPrecision(6))));
  const since = s => (s == null ? "-" : s < 60 ? `${Number(s.toFixed(1))} s`
    : `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")} min`);

  const tablesOf = (run, chart) => [...document.querySelectorAll(`#${run} table[data-chart="${chart}"]`)];
  const unitOf = (run, stage) => tablesOf(run, "time").find(table => table.dataset.stage === stage)?.dataset.unit;
  const stagesOf = {
    time: run => tablesOf(run, "time").map(table => table.dataset.stage),
    distribution: run => tablesOf(run, "distribution").flatMap(table =>
      [...table.tHead.rows[0].cells].slice(2).map(cell => cell.textContent)),
  };

  // Columns of each run: [xs, ys, ys, ...], and what the ys are called.
  const columnsOf = {
    time(run, stage) {
      const table = tablesOf(run, "time").find(table => table.dataset.stage === stage);
      if (!table) return null;
      const rows = rowsOf(table);
      const length = Number(table.dataset.block);
      // Between recordings: a block is left of each.
      const gaps = rows.slice(1).map((row, i) => Math.max(0, row[0] - rows[i][0] - length));
      const cut = gaps.some(gap => gap > length);
      const points = [];
      let leftOut = 0;
      rows.forEach((row, i) => {
        if (cut && i) leftOut += Math.max(0, gaps[i - 1] - length);
        const from = row[0] - leftOut, end = from + length;
        points.push([from, ...row.slice(1)]);
        if (i + 1 === rows.length) points.push([end, ...row.slice(1)]);
        else if (gaps[i] > 0) points.push([end, ...row.slice(1)], [end + length / 1e3, null, null, null, null, null]);
      });
      return { names: ["P50", "P99", "max"], columns: [0, 3, 4, 5].map(i => points.map(row => row[i])), cut };
    },
    distribution(run, stage) {
      const column = stagesOf.distribution(run).indexOf(stage) + 2;
      if (column < 2) return null;
      const bins = rowsOf(tablesOf(run, "distribution")[0]).filter(row => row[0] !== null && row[1] !== null);
      const filled = bins.filter(row => row[column] > 0);
      const all = filled.reduce((sum, row) => sum + row[column], 0);
      if (!all) return null;
      const xs = [], ys = [];
      const low = filled[0][0], high = filled.at(-1)[1];
      let end = null;
      for (const row of bins) {
        if (row[0] < low || row[1] > high) continue;
        if (end !== null && row[0] > end) { xs.push(end); ys.push(0); }  // no bin between has a value
        xs.push(row[0]);
        ys.push(100 * row[column] / all);
        end = row[1];
      }
      xs.push(end);
      ys.push(0);
      if (xs[0] === 0) xs[0] = Math.min(0.0005, xs[1] / 2);  // a log axis has no 0
      return { names: ["share"], columns: [xs, ys] };
    },
  };

  const dashes = [[6, 4], []];
  const styles = { P50: ["--c8", 1.5], P99: ["--c0", 2], max: ["--c14", 1], share: ["--c0", 1.5] };

  function seriesOf(kind, name, run, runs, label, text) {
    const [stroke, width] = styles[name];
    const paths = uPlot.paths.stepped({ align: 1 });
    const single = runs === 1;
    const line = { label, stroke: colour(!single && kind === "distribution" && run === 1 ? "--c4" : stroke), width, paths, points: { show: false } };
    if (!single && run === 0) line.dash = dashes[0];
    if (!single && name === "max") line.show = false;
    if (kind === "distribution") {
      line.value = (_, share) => (share == null ? "-" : `${Number(share.toPrecision(3))} %`);
      line.fill = single || run === 1 ? line.stroke + "33" : undefined;
    } else {
      line.value = (_, value) => text(value);
    }
    return line;
  }

  function axis(more) {
    return { stroke: colour("--soft"), grid: { stroke: colour("--track"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 },
      font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 18, ...more };
  }

  // 1, 2, ... 9 of each power of ten. uPlot's own begin at the lower end, whatever it is.
  const logSplits = (plot, axis, min, max) => {
    const splits = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++)
      for (let digit = 1; digit < 10; digit++) splits.push(Number(`${digit}e${power}`));
    return splits.filter(value => value >= min && value <= max);
  };
  const logFilter = (plot, splits) => {
    const decades = Math.log10(plot.scales.x.max / plot.scales.x.min);
    const room = plot.bbox.width / devicePixelRatio / decades;
    const shown = room > 600 ? /./ : room > 180 ? /^[125]/ : room > 110 ? /^[13]/ : /^1/;
    return splits.map(value => (shown.test(value.toExponential(1)) ? value : null));
  };

  function optionsOf(kind, width, logCounts, text) {
    const height = Math.round(Math.max(220, Math.min(340, width * 0.42)));
    const common = { width, height, padding: [10, 28, 0, 0], cursor: { drag: { x: true, y: false } }, legend: { live: true } };
    if (kind !== "distribution") {
      return { ...common, scales: { x: { time: false }, y: text === duration ? { distr: 3 } : {} },
        axes: [axis({ size: 34, space: 80, label: "since the start", values: (_, splits) => splits.map(since) }),
               axis({ size: 64, values: (_, splits) => splits.map(value => (value == null ? "" : text(value))) })],
        series: [{ label: "at", value: (_, s) => since(s) }] };
    }
    return { ...common, scales: { x: { time: false, distr: 3, range: (_, min, max) => [min, max] }, y: logCounts ? { distr: 3 } : { range: (_, __, max) => [0, max * 1.05 || 1] } },
      axes: [axis({ size: 34, splits: logSplits, filter: logFilter, label: "duration", values: (_, splits) => splits.map(us => (us == null ? "" : duration(us))) }),
             axis({ size: 64, values: (_, splits) => splits.map(share => (share == null ? "" : `${Number(share.toPrecision(3))} %`)) })],
      series: [{ label: "from", value: (_, us) => duration(us) }] };
  }

  function chart(place) {
    const kind = place.dataset.chart;
    const runs = place.dataset.runs.split(" ");
    const names = place.dataset.names ? place.dataset.names.split(" ") : [];
    const stages = [...new Set(runs.flatMap(stagesOf[kind]))];
    if (!stages.length) return null;

    const controls = document.createElement("div");
    controls.className = "controls";
    const stage = document.createElement("select");
    for (const name of stages) stage.add(new Option(name, name, false, name === place.dataset.stage));
    const label = document.createElement("label");
    label.append("Stage ", stage);
    controls.append(label);
    const log = document.createElement("input");
    log.type = "checkbox";
    if (kind === "distribution") {
      const counts = document.createElement("label");
      counts.append(log, " logarithmic shares, to see the tail");
      controls.append(counts);
    }
    const canvas = document.createElement("div");
    place.append(controls, canvas);

    let plot = null;
    function draw() {
      if (plot) plot.destroy();
      const text = kind === "time" && runs.every(run => unitOf(run, stage.value) !== "us") ? plain : duration;
      const options = optionsOf(kind, Math.max(240, place.clientWidth), log.checked, text);
      const tables = [];
      runs.forEach((run, i) => {
        const found = columnsOf[kind](run, stage.value);
        if (!found) return;
        if (log.checked) found.columns = found.columns.map((column, j) => (j ? column.map(y => y || null) : column));
        tables.push(found.columns);
        if (found.cut) options.axes[0].label = "since the start, without the time between recordings";
        found.names.forEach(name => options.series.push(
          seriesOf(kind, name, i, runs.length, names.length ? `${name} ${names[i]}` : name, text)));
      });
      if (kind !== "distribution" && !tables.some(table => table.slice(1).some(column => column.some(y => y !== null)))) return;
      plot = new uPlot(options, uPlot.join(tables), canvas);
      place.dataset.drawn = stage.value;
    }
    stage.addEventListener("change", draw);
    log.addEventListener("change", draw);
    draw();
    return draw;
  }

  const redraw = [...document.querySelectorAll(".chart")].map(chart).filter(Boolean);
  const all = () => redraw.forEach(draw => draw());
  for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", all);
  let width = document.documentElement.clientWidth, timer = 0;
  addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(all, 100);
  });
})();
