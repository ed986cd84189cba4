// The page: who you are, which view is shown, and what the server is doing.

import { get, onConnection, openSession, Refused } from "./api.js";
import { ask, counted, el, grouped, said, toast } from "./dom.js";
import { Questions } from "./questions.js";
import { MapView } from "./map.js";
import { Clusters } from "./clusters.js";
import { Progress } from "./progress.js";
import { People } from "./people.js";

const SECONDS_BETWEEN_POLLS = 1.5;
const names = ["questions", "map", "clusters", "progress", "people"];
const views = {};
let shown = "questions";
let last = { fit: -1, event: -1 };

const tabs = document.getElementById("tabs");
tabs.addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.view;
  if (name) show(name);
});

export function show(name) {
  shown = name;
  for (const one of names) {
    document.getElementById(one).hidden = one !== name;
    const button = tabs.querySelector(`[data-view=${one}]`);
    if (one === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  views[name].show?.();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.getElementById("dialog").open || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key >= "1" && event.key <= "5") {
    show(names[Number(event.key) - 1]);
    event.preventDefault();
  } else if (event.key.toLowerCase() === "z" && shown !== "questions" && !event.repeat) {
    const here = shown;
    views.questions?.undo().then(() => views[here].changed(false, here === shown));
    event.preventDefault();
  } else if (views[shown]?.key?.(event)) {
    event.preventDefault();
  }
});

onConnection((online) => {
  const banner = document.getElementById("banner");
  if (!online) {
    banner.textContent = "The server does not answer. What you did is kept here and sent again.";
    banner.hidden = false;
    banner.dataset.reason = "connection";
  } else if (banner.dataset.reason === "connection") {
    banner.hidden = true;
  }
});

function showWorker(worker) {
  const pill = document.getElementById("worker");
  const words = { starting: "starting", fitting: "refitting", idle: "up to date", restarting: "restarting the refit" };
  pill.textContent = words[worker.state] ?? worker.state;
  pill.dataset.state = worker.state;
  const banner = document.getElementById("banner");
  if (worker.trouble) {
    banner.textContent = worker.trouble;
    banner.hidden = false;
    banner.dataset.reason = "worker";
  } else if (banner.dataset.reason === "worker") {
    banner.hidden = true;
  }
}

async function poll() {
  try {
    const state = await get("/api/state");
    showWorker(state.worker);
    if (state.fit !== last.fit || state.event !== last.event || !views.questions.hasQuestion) {
      const refitted = state.fit !== last.fit;
      if (refitted && last.fit > 0) toast(`Refit ${state.fit} is there`);
      last = state;
      views.questions.changed(state);
      for (const name of ["map", "clusters", "progress", "people"]) views[name].changed(refitted, name === shown);
    }
  } catch (error) {
    if (error instanceof Refused && error.status === 401) await enter();
  }
  setTimeout(poll, 1000 * SECONDS_BETWEEN_POLLS);
}

// Opens a session, under the name that this browser knows or under one that is asked for; null where that was left.
async function enter(another = false) {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.get("token")) {
    sessionStorage.setItem("token", given.get("token"));
    history.replaceState(null, "", location.pathname);
  }
  const token = sessionStorage.getItem("token");
  let annotator = another ? null : given.get("annotator") ?? localStorage.getItem("annotator");
  let trouble = null;
  for (;;) {
    if (annotator) {
      try {
        const session = await openSession(annotator, token);
        localStorage.setItem("annotator", session.annotator);
        return session.annotator;
      } catch (error) {
        trouble = error.message;
      }
    }
    const fields = [
      el("p", {}, "Answers are kept under your name, so that several people can work together."),
      trouble && el("p", { class: "wrong", role: "alert" }, trouble),
      el("label", { for: "name" }, "Your name"),
      el("input", { id: "name", name: "annotator", maxlength: 80, autocomplete: "nickname", required: true }),
    ];
    if (document.body.dataset.needsToken === "yes" && !token) {
      fields.push(el("p", { class: "wrong" }, "Open the link with a token that the studio printed."));
    }
    annotator = (await ask("Who are you?", fields.filter(Boolean), "Begin"))?.annotator;
    if (another && !annotator) return null;
  }
}

async function begin() {
  await enter();
  const project = await get("/api/project");
  document.title = `${project.title} · sidelight studio`;
  document.getElementById("title").replaceChildren(said(project.title));
  document.getElementById("subtitle").textContent = `${grouped(project.n_rows)} rows · ${counted(project.columns.length, "column")}`;
  const me = document.getElementById("me");
  me.replaceChildren(said(project.annotator));
  me.setAttribute("aria-label", `You are ${project.annotator}. Change the name`);
  me.hidden = false;
  me.addEventListener("click", async () => {
    if (await enter(true)) location.reload();
  });
  const part = (name) => document.getElementById(name);
  views.questions = new Questions(part("questions"), project);
  views.map = new MapView(part("map"), project, () => show("questions"));
  views.clusters = new Clusters(part("clusters"), project, () => show("questions"));
  views.progress = new Progress(part("progress"));
  views.people = new People(part("people"));
  await views.questions.show();
  document.documentElement.dataset.ready = "yes";
  poll();
}

begin();
