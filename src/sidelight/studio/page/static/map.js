// The clusters in the plane: move, zoom, point at a row, draw a line around rows.

import { get, getArrays, newKey, post } from "./api.js";
import { ask, counted, el, grouped, percent, replace, said, toast } from "./dom.js";
import { followPointers } from "./gestures.js";
import { drawPoints, Grid, hexToRgb, inside } from "./raster.js";

const MOST_SELECTED = 20000;
const MOST_LABELLED = 1000;
// How statements are drawn.
const KEY = [["same", "same"], ["different", "different"], ["labelled", "label"], ["broken", "broken"]];

export class MapView {
  constructor(root, project, goToQuestions) {
    this.project = project;
    this.goToQuestions = goToQuestions;
    this.faded = new Set();
    this.lasso = [];
    this.selected = [];
    this.statements = [];
    this.cursor = [0, 0];
    this.view = null;
    this.points = null;
    this.canvas = el("canvas", { class: "points", "aria-hidden": "true" });
    this.over = el("canvas", {
      class: "over", tabindex: 0, role: "application",
      "aria-label": "Map of the rows. Arrow keys move the cross, plus and minus zoom, space sets a corner of a selection, enter closes it, escape clears it.",
    });
    this.tip = el("div", { class: "tip", hidden: true });
    this.said = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
    this.legend = el("ul", { class: "legend", "aria-label": "Clusters" });
    this.panel = el("aside", { class: "card selection", "aria-label": "Selection" });
    this.withLinks = el("input", { type: "checkbox", checked: true, onchange: () => this.drawOver() });
    const tool = (text, label, act) => el("button", { type: "button", class: "quiet", "aria-label": label, onclick: act }, text);
    this.tools = el("div", { class: "tools" }, tool("+", "Zoom in", () => this.zoom(1.4)), tool("−", "Zoom out", () => this.zoom(1 / 1.4)),
      tool("Fit", "Fit everything", () => this.reset()), el("label", {}, this.withLinks, " statements"), el("ul", { class: "key" }, KEY.map(([kind, words]) => el("li", { class: kind }, words))));
    this.stage = el("div", { class: "stage card" }, this.canvas, this.over, this.tip);
    replace(root, el("div", { class: "map" }, el("div", {}, this.tools, this.stage), el("div", { class: "aside" }, this.legend, this.panel)), this.said);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.showSelection();
  }

  async show() {
    if (this.stale !== false) await this.load();
  }

  changed(refitted, visible) {
    this.stale = true;
    if (visible) this.load(refitted);
  }

  async load() {
    this.stale = false;
    try {
      const { clusters } = await get("/api/clusters");
      if (!clusters.length) {
        this.stale = true;
        replace(this.legend, el("li", {}, "The first fit is on its way."));
        return;
      }
      const [{ buffer, fit }, { statements }] = await Promise.all([getArrays("/api/map"), get("/api/statements")]);
      const n = this.project.n_rows;
      this.points = {
        x: new Float32Array(buffer, 0, n), y: new Float32Array(buffer, 4 * n, n),
        keys: new Uint16Array(buffer, 8 * n, n), certainty: new Uint8Array(buffer, 10 * n, n),
      };
      this.fit = fit;
      this.grid = new Grid(this.points.x, this.points.y);
      this.clusters = clusters;
      this.colours = {};
      this.names = {};
      for (const cluster of clusters) {
        this.colours[cluster.key] = hexToRgb(cluster.colour);
        this.names[cluster.key] = cluster.name;
      }
      this.statements = statements;
      this.showLegend();
      this.resize();
    } catch (error) {
      this.stale = true;
      replace(this.legend, el("li", {}, error.message));
    }
  }

  showLegend() {
    replace(this.legend, this.clusters.map((cluster) => el("li", {}, el("button", {
      type: "button", "aria-pressed": this.faded.has(cluster.key) ? "false" : "true", title: "Show or fade this cluster",
      onclick: () => this.toggle(cluster.key),
    }, el("i", { class: "swatch", style: { "background-color": cluster.colour } }), said(cluster.name), el("small", {}, percent(cluster.share))))));
  }

  toggle(key) {
    if (!this.faded.delete(key)) this.faded.add(key);
    this.showLegend();
    this.draw();
  }

  // --- drawing

  resize() {
    const box = this.stage.getBoundingClientRect();
    if (!box.width || !this.points) return;
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    const width = Math.round(box.width * this.ratio);
    const height = Math.round(box.height * this.ratio);
    if (this.canvas.width !== width || this.canvas.height !== height || !this.view) {
      for (const canvas of [this.canvas, this.over]) [canvas.width, canvas.height] = [width, height];
      this.image = this.canvas.getContext("2d").createImageData(width, height);
      this.reset();
    } else {
      this.draw();
    }
  }

  reset() {
    const { width, height } = this.canvas;
    const least = 0.47 * Math.min(width, height);
    // A wide stage is used towards its sides.
    this.view = { sx: Math.min(0.47 * width, 1.7 * least), sy: Math.min(0.47 * height, 1.7 * least), dx: width / 2, dy: height / 2 };
    this.home = this.view.sy;
    this.draw();
  }

  draw() {
    if (!this.points || this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      const began = performance.now();
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const n = this.points.x.length;
      const radius = this.ratio * (n > 50000 ? 1.1 : n > 10000 ? 1.5 : n > 1000 ? 2.2 : 3.4) * Math.min(Math.max(Math.sqrt(this.view.sy / this.home), 1), 2.5);
      drawPoints(this.image, this.points, this.view, this.colours, radius, dark ? [23, 30, 38] : [255, 255, 255], this.faded);
      this.canvas.getContext("2d").putImageData(this.image, 0, 0);
      this.drawOver();
      this.stage.dataset.milliseconds = (performance.now() - began).toFixed(1);
    });
  }

  toPixels([x, y]) {
    return [x * this.view.sx + this.view.dx, -y * this.view.sy + this.view.dy];
  }

  toMap(px, py) {
    return [(px - this.view.dx) / this.view.sx, -(py - this.view.dy) / this.view.sy];
  }

  place(row) {
    return this.toPixels([this.points.x[row], this.points.y[row]]);
  }

  drawOver() {
    const paint = this.over.getContext("2d");
    paint.clearRect(0, 0, this.over.width, this.over.height);
    if (!this.points) return;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    paint.lineJoin = "round";
    if (this.withLinks.checked) this.drawStatements(paint, dark);
    if (this.selected.length && this.selected.length <= 5000) {
      paint.strokeStyle = dark ? "#fff" : "#111";
      paint.lineWidth = this.ratio;
      for (const row of this.selected) this.ring(paint, row, 3.2);
    }
    if (this.lasso.length) {
      paint.beginPath();
      for (const point of this.lasso) paint.lineTo(...this.toPixels(point));
      paint.closePath();
      paint.fillStyle = dark ? "rgba(120,190,255,.16)" : "rgba(20,90,160,.12)";
      paint.fill();
      paint.strokeStyle = dark ? "#9ccfff" : "#14508c";
      paint.lineWidth = 1.5 * this.ratio;
      paint.stroke();
    }
    if (this.hovered >= 0) {
      paint.strokeStyle = dark ? "#fff" : "#000";
      paint.lineWidth = 2 * this.ratio;
      this.ring(paint, this.hovered, 6);
    }
    if (document.activeElement === this.over) {
      const [x, y] = this.toPixels(this.cursor);
      paint.strokeStyle = dark ? "#fff" : "#000";
      paint.lineWidth = 1.5 * this.ratio;
      paint.beginPath();
      for (const [dx, dy] of [[9, 0], [0, 9]]) {
        paint.moveTo(x - dx * this.ratio, y - dy * this.ratio);
        paint.lineTo(x + dx * this.ratio, y + dy * this.ratio);
      }
      paint.stroke();
    }
  }

  ring(paint, row, radius) {
    paint.beginPath();
    paint.arc(...this.place(row), radius * this.ratio, 0, 7);
    paint.stroke();
  }

  drawStatements(paint, dark) {
    for (const one of this.statements) {
      paint.strokeStyle = one.broken ? "#e5484d" : dark ? "rgba(255,255,255,.55)" : "rgba(20,30,40,.5)";
      paint.lineWidth = (one.broken ? 2.2 : 1.1) * this.ratio;
      if (one.second === null) {
        this.ring(paint, one.first, 4.5);
        continue;
      }
      paint.setLineDash(one.same ? [] : [5 * this.ratio, 4 * this.ratio]);
      paint.beginPath();
      paint.moveTo(...this.place(one.first));
      paint.lineTo(...this.place(one.second));
      paint.stroke();
      paint.setLineDash([]);
    }
  }

  // --- pointer and keys

  listen() {
    const over = this.over;
    followPointers(over, {
      ready: () => Boolean(this.points),
      pixels: () => this.ratio,
      hover: (place) => this.hover(place && this.toMap(...place)),
      tap: (place) => {
        this.dropLasso();
        this.hover(this.toMap(...place));
      },
      begin: (place) => { this.lasso = [this.toMap(...place)]; },
      go: (place) => {
        this.lasso.push(this.toMap(...place));
        this.drawOver();
      },
      end: () => this.closeLasso(),
      leave: () => this.dropLasso(),
      move: (right, down) => this.move(right, down),
      zoom: (by, place) => this.zoom(by, place),
    });
    over.addEventListener("focus", () => this.drawOver());
    over.addEventListener("blur", () => this.drawOver());
    over.addEventListener("keydown", (event) => {
      if (!this.view) return;
      const pixels = (event.shiftKey ? 60 : 15) * this.ratio;
      const [right, up] = [pixels / this.view.sx, pixels / this.view.sy];
      const moves = { ArrowLeft: [-right, 0], ArrowRight: [right, 0], ArrowUp: [0, up], ArrowDown: [0, -up] };
      if (moves[event.key]) {
        this.cursor = [this.cursor[0] + moves[event.key][0], this.cursor[1] + moves[event.key][1]];
        this.hover(this.cursor, true);
      } else if (event.key === "+" || event.key === "=") this.zoom(1.4, this.toPixels(this.cursor));
      else if (event.key === "-") this.zoom(1 / 1.4, this.toPixels(this.cursor));
      else if (event.key === " ") this.lasso.push([...this.cursor]);
      else if (event.key === "Enter" && this.lasso.length > 2) this.closeLasso();
      else if (event.key === "Escape") this.clear();
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.drawOver();
    });
  }

  zoom(by, around = [this.canvas.width / 2, this.canvas.height / 2]) {
    if (!this.view) return;
    const [x, y] = around;
    const view = this.view;
    const real = Math.min(Math.max(view.sy * by, 0.5 * this.home), 200 * this.home) / view.sy;
    this.view = { sx: view.sx * real, sy: view.sy * real, dx: x + (view.dx - x) * real, dy: y + (view.dy - y) * real };
    this.draw();
  }

  move(right, down) {
    this.view.dx += right;
    this.view.dy += down;
    this.draw();
  }

  async hover(point, aloud = false) {
    const row = point && this.grid ? this.grid.nearest(...point, (9 * this.ratio) / this.view.sx, (9 * this.ratio) / this.view.sy) : -1;
    if (row === this.hovered) return;
    this.hovered = row;
    this.drawOver();
    this.tip.hidden = true;
    if (row < 0) return;
    const asked = row;
    await new Promise((resolve) => setTimeout(resolve, 60));
    if (this.hovered !== asked) return;
    const view = await get(`/api/rows/${row}`);
    if (this.hovered !== asked) return;
    const [x, y] = this.place(row).map((value) => value / this.ratio);
    const box = this.stage.getBoundingClientRect();
    replace(this.tip, el("strong", {}, said(view.id)), el("p", {}, said(this.names[view.cluster] ?? ""), `, ${percent(view.certainty ?? 0)} certain`),
      el("dl", {}, view.cells.filter(([, value]) => value).slice(0, 8).map(([column, value]) => [el("dt", {}, said(column)), el("dd", {}, said(value.slice(0, 80)))])));
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(x + 14, box.width - 250)}px`;
    this.tip.style.top = `${Math.min(y + 14, box.height - this.tip.offsetHeight - 8)}px`;
    if (aloud) this.said.textContent = `${view.id}: ${this.names[view.cluster]}, ${percent(view.certainty ?? 0)} certain`;
  }

  // --- selection

  dropLasso() {
    this.lasso = [];
    this.drawOver();
  }

  clear() {
    this.lasso = [];
    this.selected = [];
    this.showSelection();
    this.drawOver();
  }

  async closeLasso() {
    const rows = inside(this.lasso, this.points.x, this.points.y).filter((row) => !this.faded.has(this.points.keys[row]));
    this.lasso = [];
    this.selected = rows.slice(0, MOST_SELECTED);
    this.showSelection();
    this.drawOver();
  }

  showSelection() {
    const rows = this.selected;
    if (!rows.length) {
      replace(this.panel, el("h2", {}, "Selection"), el("p", { class: "hint" }, matchMedia("(pointer: coarse)").matches
        ? "Draw a line around rows to select them. Tap a row to see it. Two fingers move the map and zoom."
        : "Draw a line around rows to select them. Shift and drag moves the map, the wheel zooms."));
      return;
    }
    const sizes = new Map();
    for (const row of rows) sizes.set(this.points.keys[row], (sizes.get(this.points.keys[row]) ?? 0) + 1);
    const list = [...sizes].toSorted((a, b) => b[1] - a[1]);
    const most = this.clusters.find((cluster) => cluster.key === list[0][0]);
    replace(this.panel, el("h2", {}, counted(rows.length, "row"), " selected"),
      el("ul", { class: "plain" }, list.slice(0, 8).map(([key, size]) => el("li", {},
        el("i", { class: "swatch", style: { "background-color": `rgb(${this.colours[key].join(",")})` } }), said(this.names[key]), ` ${grouped(size)}`))),
      el("div", { class: "row" },
        el("button", { type: "button", class: "primary", onclick: () => this.askAbout() }, "Ask me about these"),
        el("button", { type: "button", onclick: () => this.labelThem(most?.name) }, "Label them"),
        el("button", { type: "button", class: "quiet", onclick: () => this.clear() }, "Clear")));
  }

  async askAbout() {
    try {
      const { n_questions: number } = await post("/api/selection", { rows: this.selected, ask: true });
      toast(number ? `${counted(number, "question")} about the selection` : "Nothing left to ask about these");
      if (number) this.goToQuestions();
    } catch (error) {
      toast(error.message);
    }
  }

  async labelThem(suggestion) {
    if (this.selected.length > MOST_LABELLED) {
      toast(`Label at most ${MOST_LABELLED} rows at a time`);
      return;
    }
    const values = await ask(`Label ${counted(this.selected.length, "row")}`, [el("label", { for: "label" }, "Label"),
      el("input", { id: "label", name: "label", required: true, maxlength: 200, value: suggestion ?? "", autocomplete: "off" })], "Label them");
    if (!values?.label.trim()) return;
    try {
      await post("/api/labels", { key: newKey(), rows: this.selected, label: values.label });
      toast(`${counted(this.selected.length, "row")} labelled; Z takes it back`);
    } catch (error) {
      toast(error.message);
    }
  }
}
