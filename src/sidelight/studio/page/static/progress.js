// How far the work is, and everything to take home.

import { get } from "./api.js";
import { counted, el, grouped, percent, replace, said, unbroken } from "./dom.js";

const FILES = [
  ["clusters.csv", "the cluster of every row"],
  ["statements.csv", "judged pairs, for sidelight fit --links"],
  ["answers.csv", "every answer with its annotator"],
  ["labels.csv", "labels"],
  ["notes.csv", "notes"],
  ["label-studio.json", "answers for Label Studio"],
  ["prodigy.jsonl", "answers for Prodigy"],
  ["result.zip", "clusters, model and report, as sidelight fit writes them"],
  ["project.studio", "the whole project, for --resume"],
];

export class Progress {
  constructor(root) {
    this.root = root;
    this.body = el("div", {});
    const exports = el("article", { class: "card" }, el("h3", {}, "Export"), el("ul", { class: "exports" }, FILES.map(([name, words]) =>
      el("li", {}, el("a", { href: `/api/export/${name}`, download: name }, name), el("span", {}, words)))));
    replace(root, el("h2", { class: "unseen" }, "Progress"), this.body, exports);
    this.stale = true;
  }

  show() {
    this.load();
  }

  changed(refitted, visible) {
    if (visible) this.load();
  }

  async load() {
    const progress = await get("/api/progress");
    const figure = (value, words, hint) => el("div", { class: "figure" }, el("strong", {}, value), el("span", {}, words), hint && el("small", {}, hint));
    const share = ({ right, of }) => (of ? percent(right / of) : "–");
    const fits = progress.fits;
    replace(this.body,
      el("p", { class: `verdict ${progress.enough ? "enough" : ""}`, role: "status" }, progress.verdict),
      el("div", { class: "figures-row" },
        figure(grouped(progress.n_answers), progress.n_answers === 1 ? "answer" : "answers", progress.n_unsure ? `${progress.n_unsure} unsure` : ""),
        figure(grouped(progress.n_labels), "labels given here"),
        figure(share(progress.checks), "of random pairs foreseen", progress.checks.of ? `${progress.checks.right} of ${progress.checks.of}` : "asked now and then"),
        figure(share(progress.recent), "of the last questions foreseen", progress.recent.of ? `${progress.recent.right} of ${progress.recent.of}, the hardest ones` : "the hardest ones"),
        figure(progress.gain_of_next === null ? "–" : progress.gain_of_next.toFixed(1), "bits in the next twenty", "at most 20"),
        figure(progress.per_minute.toFixed(1), "answers per minute")),
      el("article", { class: "card" }, el("h3", {}, "Refits"), el("p", {}, unbroken(progress.changed)), fits.length ? this.chart(fits) : null,
        fits.at(-1)?.doubts.map((doubt) => el("p", { class: "wrong" }, said(doubt))),
        fits.length ? el("p", { class: "hint" }, `The last refit took ${fits.at(-1).seconds.toFixed(0)} seconds and breaks ${counted(fits.at(-1).n_broken, "statement")} of ${grouped(fits.at(-1).n_links + fits.at(-1).n_labels)}.`) : null),
      progress.contradictions.length ? el("article", { class: "card" }, el("h3", {}, "Answers that contradict others"), el("p", { class: "hint" }, "They count with a lower confidence. Undo, or answer these pairs again."),
        el("ul", { class: "plain" }, progress.contradictions.slice(0, 30).map(([a, b]) => el("li", {}, said(a), " and ", said(b))))) : null);
  }

  // The part of the rows that each refit moved, after the first.
  chart(fits) {
    const later = fits.slice(1).slice(-30);
    if (!later.length) return null;
    const most = Math.max(...later.map((fit) => fit.share_moved), 0.02);
    const width = Math.min(600 / later.length, 48);
    return el("figure", { class: "chart" }, el("svg:svg", { viewBox: "0 0 600 90", role: "img", "aria-label": `Part of the rows that each refit moved; the last ${percent(later.at(-1).share_moved)}` },
      later.map((fit, at) => el("svg:rect", { x: at * width + 2, y: 84 - (80 * fit.share_moved) / most, width: width - 4, height: Math.max((80 * fit.share_moved) / most, 1.5), rx: 2 }, el("svg:title", {}, `refit ${fit.number}: ${percent(fit.share_moved)} of the rows moved`)))),
    el("figcaption", {}, `rows moved by each refit, at most ${percent(most)}`));
  }
}
