// Two rows side by side, answered by single keys. The next question is on the screen before the answer has travelled.

import { get, newKey, post } from "./api.js";
import { ask, counted, el, percent, replace, said, toast } from "./dom.js";

const AHEAD = 4;
const WHY = {
  repeat: "asked of another annotator too",
  again: "asked again on purpose",
  check: "a random pair, to measure agreement",
  split: "what tells this cluster apart?",
  selection: "from your selection on the map",
  imported: "from a file",
};

export class Questions {
  constructor(root, project) {
    this.project = project;
    this.queue = [];
    this.sending = Promise.resolve();
    this.pending = new Set();
    this.changes = 0;
    this.answered = 0;
    this.guessed = false;
    this.card = el("article", { class: "card question", "aria-live": "polite" });
    const button = (action, key, text, kind) =>
      el("button", { type: "button", class: `answer ${kind}`, "data-action": action, "aria-keyshortcuts": key, onclick: () => this.act(action) },
        el("span", {}, text), el("kbd", { "aria-hidden": "true" }, key));
    this.buttons = el("div", { class: "answers", role: "group", "aria-label": "Your answer" },
      button("same", "S", "Same", "same"), button("different", "D", "Different", "different"), button("unsure", "U", "Unsure", "unsure"));
    this.more = el("div", { class: "more", role: "group", "aria-label": "More" },
      button("undo", "Z", "Undo", "small"), button("label", "L", "Label instead", "small"),
      button("note", "N", "Note", "small"), button("guess", "G", "Model’s guess", "small"));
    this.count = el("p", { class: "count", role: "status" });
    this.guessLine = el("p", { class: "guess", role: "status" });
    replace(root, this.count, this.card, el("div", { class: "dock" }, this.guessLine, this.buttons, this.more));
  }

  get hasQuestion() {
    return this.queue.length > 0;
  }

  get current() {
    return this.queue[0];
  }

  async show() {
    const changes = this.changes;
    const found = await get(`/api/questions?number=${AHEAD}`);
    // What was asked for before an answer was known may have its question once more.
    if (changes === this.changes) this.take(found);
  }

  changed(state) {
    this.count.textContent = `${counted(state.n_answers, "answer")} in this project` + (this.answered ? `, ${this.answered} by you just now` : "");
    if (!this.pending.size) this.show();
  }

  take({ ready, questions }) {
    const fresh = questions.filter((question) => !this.pending.has(name(question)));
    const before = this.current;
    const stays = fresh.findIndex((question) => before && name(question) === name(before));
    this.queue = stays > 0 ? [fresh[stays], ...fresh.toSpliced(stays, 1)] : fresh;
    this.ready = ready;
    // The same pair is drawn again where someone wrote a note on it.
    if (stays < 0 || this.current.notes.length !== before.notes.length || !this.card.hasChildNodes()) this.draw();
  }

  draw() {
    const question = this.current;
    const pair = question && name(question);
    if (pair !== this.drawn) {
      this.guessed = false;
      this.guessLine.textContent = "";
    }
    this.drawn = pair;
    for (const button of this.buttons.children) button.disabled = !question;
    if (!question) {
      replace(this.card, el("div", { class: "empty" }, el("h2", {}, this.ready ? "Nothing left to ask" : "The first questions are being prepared"),
        el("p", {}, this.ready ? "The model knows the answers that are left, or others are answering them." : "This takes a few seconds.")));
      return;
    }
    this.shownAt = performance.now();
    const differing = question.cells.filter((cell) => !cell.alike);
    const alike = question.cells.filter((cell) => cell.alike);
    const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "unseen" }, "Column")),
      this.heading("A", question.id_a, question.label_a), this.heading("B", question.id_b, question.label_b)));
    const table = el("table", { class: "pair" }, el("caption", { class: "unseen" }, "The two rows, the most different columns first"), head,
      el("tbody", {}, differing.map((cell) => this.line(question, cell))));
    const folded = alike.length
      ? el("details", { class: "alike" }, el("summary", {}, `${counted(alike.length, "column")} alike`),
        el("table", { class: "pair" }, el("caption", { class: "unseen" }, "Columns that are alike"), el("tbody", {}, alike.map((cell) => this.line(question, cell)))))
      : null;
    replace(this.card,
      el("header", {}, el("h2", {}, "Do these two belong together?"), WHY[question.purpose] && el("p", { class: "why" }, WHY[question.purpose])),
      table, folded, this.notes(question.notes));
    if (!differing.length && folded) folded.open = true;
  }

  notes(notes) {
    return notes.length ? el("ul", { class: "notes", "aria-label": "Notes" }, notes.map((one) => el("li", {}, said(one.annotator), ": ", said(one.text)))) : null;
  }

  heading(letter, id, label) {
    return el("th", { scope: "col", class: `side-${letter}` }, el("span", { class: `mark ${letter}`, "aria-hidden": "true" }, letter),
      said(id), label ? el("span", { class: "label" }, said(label)) : null);
  }

  line(question, cell) {
    const value = (text, row, image) => {
      if (image) {
        const address = `/api/rows/${row}/image?column=${encodeURIComponent(cell.column)}`;
        return el("td", {}, el("img", { src: address, alt: text, loading: "lazy" }));
      }
      return el("td", { class: text ? "" : "missing" }, said(text || "missing"));
    };
    const strip = cell.places
      ? el("span", { class: "strip", role: "img", "aria-label": `A at ${percent(cell.places[0])} and B at ${percent(cell.places[1])} of the range` },
        el("i", { class: "link", style: { left: `${100 * Math.min(...cell.places)}%`, width: `${100 * Math.abs(cell.places[0] - cell.places[1])}%` } }),
        el("i", { class: "dot A", style: { left: `${100 * cell.places[0]}%` } }), el("i", { class: "dot B", style: { left: `${100 * cell.places[1]}%` } }))
      : null;
    const mark = cell.alike ? null : el("span", { class: "differs", title: "differs" }, el("span", { class: "unseen" }, " differs"), el("span", { "aria-hidden": "true" }, "≠"));
    return el("tr", { class: cell.alike ? "is-alike" : "is-different" },
      el("th", { scope: "row" }, el("span", { class: "column" }, said(cell.column), mark), strip), value(cell.a, question.first, cell.image_a), value(cell.b, question.second, cell.image_b));
  }

  key(event) {
    const actions = { s: "same", d: "different", u: "unsure", z: "undo", l: "label", n: "note", g: "guess" };
    const action = actions[event.key.toLowerCase()];
    if (!action || event.repeat) return false;
    this.act(action);
    return true;
  }

  act(action) {
    if (action === "undo") return this.undo();
    if (!this.current) return undefined;
    if (action === "label") return this.label();
    if (action === "note") return this.note();
    if (action === "guess") return this.guess();
    return this.answer(action);
  }

  answer(relation) {
    const question = this.queue.shift();
    const saw = this.guessed;
    const body = { key: newKey(), first: question.first, second: question.second, relation, purpose: question.purpose, saw_guess: saw };
    this.pending.add(name(question));
    this.answered += 1;
    this.card.dataset.answered = relation;
    this.draw();
    this.later(async () => {
      try {
        const { next } = await post(`/api/answers?number=${AHEAD}`, body);
        this.pending.delete(name(question));
        this.take(next);
      } catch (error) {
        this.pending.delete(name(question));
        this.answered -= 1;
        toast(`Not taken: ${error.message}`);
        await this.show();
      }
    });
  }

  // One after the other, so that an undo follows the answer that it takes back.
  later(task) {
    this.changes += 1;
    this.sending = this.sending.then(task, task).finally(() => { this.changes += 1; });
    return this.sending;
  }

  undo() {
    const key = newKey();
    return this.later(async () => {
      try {
        const { undone, question } = await post("/api/undo", { key });
        toast(`Undone: ${undone}`);
        if (question) {
          this.answered = Math.max(this.answered - 1, 0);
          this.queue = [question, ...this.queue.filter((one) => name(one) !== name(question))];
          this.draw();
        }
      } catch (error) {
        toast(error.message);
      }
    });
  }

  async label() {
    const question = this.current;
    const known = this.project.labels;
    const values = await ask("Give a label instead", [
      el("fieldset", {}, el("legend", {}, "Which row?"),
        el("label", { class: "choice" }, el("input", { type: "radio", name: "row", value: question.first, checked: true }), " A: ", said(question.id_a)),
        el("label", { class: "choice" }, el("input", { type: "radio", name: "row", value: question.second }), " B: ", said(question.id_b))),
      el("label", { for: "label" }, "Label"),
      el("input", { id: "label", name: "label", list: "labels", required: true, maxlength: 200, autocomplete: "off" }),
      el("datalist", { id: "labels" }, known.map((one) => el("option", { value: one }))),
    ], "Give the label");
    if (!values?.label.trim()) return;
    const body = { key: newKey(), rows: [Number(values.row)], label: values.label };
    await this.later(async () => {
      try {
        await post("/api/labels", body);
        if (!known.includes(values.label)) known.push(values.label);
        toast(`Label given: ${values.label}`);
        const held = this.queue.shift();
        if (held) this.queue.push(held);
        this.draw();
      } catch (error) {
        toast(error.message);
      }
    });
  }

  async note() {
    const question = this.current;
    const values = await ask("Note on this pair", [el("label", { for: "note" }, "Note"),
      el("textarea", { id: "note", name: "text", rows: 4, maxlength: 4000, required: true })], "Keep the note");
    if (!values?.text.trim()) return;
    const body = { key: newKey(), rows: [question.first, question.second], text: values.text };
    await this.later(async () => {
      try {
        await post("/api/notes", body);
        toast("Note kept");
        await this.show();
      } catch (error) {
        toast(error.message);
      }
    });
  }

  async guess() {
    const question = this.current;
    try {
      this.fitted ||= (await get("/api/state")).fit > 0;
      if (!this.fitted) {
        this.guessLine.textContent = "The model has no guess before its first fit.";
        return;
      }
      const { chance_same: chance } = await get(`/api/guess?first=${question.first}&second=${question.second}`);
      if (!this.current || name(question) !== name(this.current)) return;
      this.guessed = true;
      this.guessLine.textContent = `The model believes with ${percent(Math.max(chance, 1 - chance))} that they are ${chance > 0.5 ? "the same" : "different"}.`;
    } catch (error) {
      toast(error.message);
    }
  }
}

const name = (question) => [question.first, question.second].toSorted((a, b) => a - b).join("-");
