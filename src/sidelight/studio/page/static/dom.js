// Elements from plain values. Text is only ever set as text, so that cells and names cannot become markup.

export function el(tag, options = {}, ...children) {
  const node = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, amount] of Object.entries(value)) node.style.setProperty(property, amount);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// Text of a user: set apart, so that right-to-left marks in it do not turn the words around it.
export const said = (text, options = {}) => el("bdi", options, String(text));

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

// Between a number and its sign; lines do not break there.
const THIN_SPACE = "\u202f";

export const percent = (share) => {
  const shown = share > 0 && share < 0.01 ? "<1" : share > 0.99 && share < 1 ? ">99" : Math.round(100 * share);
  return `${shown}${THIN_SPACE}%`;
};

// Words of the server, with their signs of per cent at their numbers.
export const unbroken = (words) => words.replaceAll(" %", `${THIN_SPACE}%`);

export const grouped = (number) => number.toLocaleString("en").replaceAll(",", THIN_SPACE);

export const counted = (number, noun, plural) => `${grouped(number)} ${number === 1 ? noun : plural ?? `${noun}s`}`;

let fading;
export function toast(text) {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.classList.add("shown");
  clearTimeout(fading);
  fading = setTimeout(() => node.classList.remove("shown"), 3500);
}

// Shows a dialog with a form; resolves to the form's values, or to null when it is left.
export function ask(title, fields, action) {
  const dialog = document.getElementById("dialog");
  return new Promise((resolve) => {
    const form = el("form", { method: "dialog" }, el("h2", { id: "dialog-title" }, title), fields,
      el("div", { class: "row end" },
        el("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"),
        el("button", { type: "submit", class: "primary" }, action)));
    let values = null;
    form.addEventListener("submit", () => { values = Object.fromEntries(new FormData(form)); });
    replace(dialog, form);
    dialog.addEventListener("close", () => resolve(values), { once: true });
    dialog.showModal();
    form.querySelector("input:not([type=radio]), textarea, select")?.focus();
  });
}
