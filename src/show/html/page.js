// Reads what is under the pointer off a picture, and zooms it: drag to the side, double-click for all. A page is whole
// without it.
"use strict";
(() => {
  const duration = ns => {
    const [by, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "us"] : [1, "ns"];
    return `${Number((ns / by).toPrecision(4))} ${unit}`;
  };
  // "log 10 20 ns": what is at this part of a scale.
  const textAt = (scale, part) => {
    const [kind, low, length, unit] = scale.split(" ");
    const place = Number(low) + part * Number(length);
    if (kind === "nines") return `P${Number((100 - 100 * 10 ** -place).toPrecision(place + 2))}`;
    const value = kind === "log" ? 2 ** place : place;
    return unit === "ns" ? duration(value) : String(Number(value.toPrecision(4)));
  };

  for (const svg of document.querySelectorAll(".plot svg")) {
    const box = svg.parentElement, ticks = [...box.nextElementSibling.children, ...box.querySelectorAll(".marks i")];
    const places = ticks.map(tick => parseFloat(tick.style.left) / 100);
    const { width, height } = svg.viewBox.baseVal;
    const said = document.createElement("output");
    let from = 0, length = 1, begin = null;
    const zoom = (left, right) => {
      [from, length] = [left, right - left];
      svg.setAttribute("viewBox", `${from * width} 0 ${length * width} ${height}`);
      ticks.forEach((tick, i) => {
        const place = (places[i] - from) / length;
        tick.style.left = `${100 * place}%`;
        tick.hidden = place < 0 || place > (tick.closest(".marks") ? 1 : 0.95);
      });
    };
    const partOf = event => {
      const edges = svg.getBoundingClientRect(), clamped = part => Math.min(1, Math.max(0, part));
      return [clamped((event.clientX - edges.left) / edges.width), clamped((edges.bottom - event.clientY) / edges.height)];
    };
    svg.addEventListener("pointerdown", event => {
      if (event.pointerType === "mouse") [begin] = partOf(event);
    });
    svg.addEventListener("pointermove", event => {
      const [x, y] = partOf(event), { x: scale, y: upwards } = svg.dataset;
      const texts = [scale && textAt(scale, from + x * length), upwards && textAt(upwards, y)];
      said.textContent = texts.filter(Boolean).join(", ");
      said.className = x > 0.5 && begin === null ? "left" : "";
      const start = svg.getBoundingClientRect().left - box.getBoundingClientRect().left;
      said.style.left = `${start + Math.min(x, begin ?? x) * svg.clientWidth}px`;
      said.style.width = begin === null ? "" : `${Math.abs(x - begin) * svg.clientWidth}px`;
      box.append(said);
    });
    svg.addEventListener("pointerup", event => {
      const [x] = partOf(event), [left, right] = [Math.min(x, begin), Math.max(x, begin)];
      if (begin !== null && right - left > 0.01) zoom(from + left * length, from + right * length);
      begin = null;
    });
    svg.addEventListener("dblclick", () => zoom(0, 1));
    svg.addEventListener("pointerleave", () => [begin] = [null, said.remove()]);
  }
})();
