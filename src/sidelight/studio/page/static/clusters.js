// Clusters as cards: what makes them, examples, and what can be done with them.

import { get, newKey, post } from "./api.js";
import { ask, counted, el, grouped, percent, replace, said, toast, unbroken } from "./dom.js";

export class Clusters {
  constructor(root, project, goToQuestions) {
    this.project = project;
    this.goToQuestions = goToQuestions;
    this.list = el("div", { class: "cards" });
    replace(root, el("h2", { class: "unseen" }, "Clusters"), this.list);
    this.stale = true;
  }

  show() {
    if (this.stale) this.load();
  }

  changed(refitted, visible) {
    this.stale = true;
    if (visible && !document.getElementById("dialog").open) this.load();
  }

  async load() {
    this.stale = false;
    const { clusters } = await get("/api/clusters");
    this.clusters = clusters;
    const focused = document.activeElement?.dataset.focus;
    const open = new Set([...this.list.querySelectorAll("details[open]")].map((node) => node.dataset.focus));
    replace(this.list, clusters.length ? clusters.map((cluster) => this.card(cluster, open)) : el("p", { class: "card empty" }, "The first fit is on its way."));
    if (focused) this.list.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  card(cluster, open) {
    const act = (name, text, run, label) => el("button", { type: "button", "data-focus": `${cluster.key}-${name}`, "data-action": name, "aria-label": label, onclick: () => run.call(this, cluster) }, text);
    const examples = (name, title, rows) => el("details", { open: open.has(`${cluster.key}-${name}`), "data-focus": `${cluster.key}-${name}` }, el("summary", {}, title), this.examples(rows, title));
    return el("article", { class: "card cluster", "data-key": cluster.key, "aria-label": cluster.name, style: { "--colour": cluster.colour } },
      el("header", {}, el("h3", {}, el("i", { class: "swatch", "aria-hidden": "true" }), said(cluster.name), cluster.locked ? el("span", { class: "tag" }, "locked") : null),
        el("p", { class: "figures" }, `${counted(cluster.size, "row")}, ${percent(cluster.share)} of all · ${percent(cluster.certainty)} certain`, cluster.n_labels ? ` · ${counted(cluster.n_labels, "label")}` : "")),
      el("ul", { class: "words" }, cluster.words.length ? cluster.words.map((word) => el("li", {}, said(unbroken(word)))) : el("li", {}, "nothing sets it apart clearly")),
      el("div", { class: "histograms" }, cluster.histograms.map((one) => this.histogram(one))),
      examples("typical", "Typical rows", cluster.typical), examples("doubtful", "Least certain rows", cluster.doubtful),
      el("div", { class: "row actions", role: "group", "aria-label": `What to do with ${cluster.name}` },
        act("name", "Name", this.rename), act("merge", "Merge…", this.merge), act("split", "Split", this.split, "Split: ask me what tells these apart"),
        act("lock", cluster.locked ? "Unlock" : "Lock", this.lock)));
  }

  histogram({ column, bins, inside, all }) {
    const most = Math.max(...all, 1);
    const own = Math.max(...inside, 1);
    const width = 120 / bins.length;
    const top = inside.indexOf(own);
    const bars = bins.map((bin, at) => el("svg:g", {}, el("svg:title", {}, `${bin}: ${grouped(inside[at])} of ${grouped(all[at])}`),
      el("svg:rect", { class: "of-all", x: at * width, y: 36 - (34 * all[at]) / most, width: Math.max(width - 1, 0.5), height: (34 * all[at]) / most }),
      el("svg:rect", { class: "of-cluster", x: at * width, y: 36 - (34 * inside[at]) / own, width: Math.max(width - 1, 0.5), height: (34 * inside[at]) / own }),
      el("svg:rect", { class: "of-none", x: at * width, y: 0, width, height: 36 }),
    ));
    return el("figure", {}, el("svg:svg", { viewBox: "0 0 120 36", role: "img", "aria-label": `${column}: most often ${bins[top]}` }, bars), el("figcaption", {}, said(column)));
  }

  examples(rows, title) {
    const columns = this.project.columns.slice(0, 12);
    return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "examples" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, said(this.project.id_column)), el("th", { scope: "col" }, "certain"), columns.map((column) => el("th", { scope: "col" }, said(column))))),
      el("tbody", {}, rows.map((row) => {
        const cells = Object.fromEntries(row.cells);
        return el("tr", {}, el("th", { scope: "row" }, said(row.id)), el("td", {}, percent(row.certainty)), columns.map((column) => el("td", {}, said((cells[column] ?? "").slice(0, 60)))));
      }))));
  }

  async act(words, path, body) {
    try {
      await post(path, { key: newKey(), ...body });
      toast(words);
      await this.load();
    } catch (error) {
      toast(error.message);
    }
  }

  async rename(cluster) {
    const values = await ask("Name the cluster", [el("label", { for: "name" }, "Name"), el("input", { id: "name", name: "name", value: cluster.name, required: true, maxlength: 100, autocomplete: "off" })], "Name it");
    if (values?.name.trim()) await this.act(`Named ${values.name}`, `/api/clusters/${cluster.key}/name`, { name: values.name });
  }

  async merge(cluster) {
    const others = this.clusters.filter((one) => one.key !== cluster.key);
    if (!others.length) return;
    const values = await ask(`Merge another cluster into ${cluster.name}`, [el("label", { for: "other" }, "Cluster"),
      el("select", { id: "other", name: "other" }, others.map((one) => el("option", { value: one.key }, `${one.name} (${grouped(one.size)} rows)`)))], "Merge");
    if (values) await this.act("Merged", "/api/merges", { into: cluster.key, cluster: Number(values.other) });
  }

  async split(cluster) {
    try {
      const { n_questions: number } = await post(`/api/clusters/${cluster.key}/split`);
      toast(number ? `${counted(number, "question")}: what tells ${cluster.name} apart?` : "There is nothing left to ask about this cluster");
      if (number) this.goToQuestions();
    } catch (error) {
      toast(error.message);
    }
  }

  async lock(cluster) {
    await this.act(cluster.locked ? "Unlocked" : "Locked: its rows stay", `/api/clusters/${cluster.key}/lock`, { locked: !cluster.locked });
  }
}
