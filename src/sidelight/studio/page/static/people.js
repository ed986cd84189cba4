// Who answered what, and how far people agree.

import { get } from "./api.js";
import { el, percent, replace, said } from "./dom.js";

export class People {
  constructor(root) {
    this.root = root;
    this.body = el("div", {});
    replace(root, el("h2", { class: "unseen" }, "People"), this.body);
  }

  show() {
    this.load();
  }

  changed(refitted, visible) {
    if (visible) this.load();
  }

  async load() {
    const [{ people, concords, disagreements, doubts }, { events }] = await Promise.all([get("/api/people"), get("/api/history?number=30&mine=false")]);
    const table = (label, heads, rows) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, el("table", { class: "examples" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows)));
    replace(this.body,
      el("article", { class: "card" }, el("h3", {}, "Annotators"), people.length ? table("Annotators", ["name", "answers", "unsure", "labels", "undone", "compared", "reliability", "95 % between", "remark"], people.map((one) => el("tr", {},
        el("th", { scope: "row" }, said(one.name)), [one.n_answers, one.n_unsure, one.n_labels, one.n_undone, one.n_compared].map((value) => el("td", {}, String(value))),
        el("td", {}, one.reliability === null ? "–" : percent(one.reliability)),
        el("td", {}, one.reliability === null ? "–" : `${percent(one.low)} and ${percent(one.high)}`), el("td", {}, one.remark)))) : el("p", { class: "hint" }, "There are no answers yet."),
      el("p", { class: "hint" }, "Reliability is learned at every refit, from pairs that several people answered (one question in ten repeats another person’s) and from what the model foresaw.")),
      el("article", { class: "card" }, el("h3", {}, "Agreement"), concords.length ? table("Agreement", ["one", "other", "alike", "of"], concords.map((one) => el("tr", {}, el("th", { scope: "row" }, said(one.first)), el("td", {}, said(one.second)), el("td", {}, `${one.alike} (${percent(one.alike / one.of)})`), el("td", {}, String(one.of)))))
        : el("p", { class: "hint" }, "No pair has been answered by two people yet.")),
      disagreements.length ? el("article", { class: "card" }, el("h3", {}, "Answered differently"), table("Answered differently", ["one row", "other row", "answers"], disagreements.map((one) => el("tr", {}, el("th", { scope: "row" }, said(one.id_a)), el("td", {}, said(one.id_b)),
        el("td", {}, Object.entries(one.relations).map(([name, relation], at) => [at ? ", " : "", said(name), `: ${relation}`])))))) : null,
      doubts.length ? el("article", { class: "card" }, el("h3", {}, "Probably wrong"), table("Probably wrong", ["one row", "other row", "answer", "by", "odds"], doubts.map((one) => el("tr", {}, el("th", { scope: "row" }, said(one.id_a)), el("td", {}, said(one.id_b)),
        el("td", {}, one.said), el("td", {}, said(one.annotator)), el("td", {}, `${one.odds < 100 ? one.odds.toFixed(1) : "over 100"} to 1`))))) : null,
      el("article", { class: "card" }, el("h3", {}, "The last things done"), el("ol", { class: "history" }, events.map((one) => el("li", {}, el("time", { datetime: new Date(1000 * one.time).toISOString() }, new Date(1000 * one.time).toLocaleTimeString()), el("strong", {}, said(one.annotator)), said(one.words.slice(0, 300)))))));
  }
}
