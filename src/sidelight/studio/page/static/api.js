// Requests to the server. A change carries a key, so that it can be sent again after a failure without counting twice.

let csrf = "";
const listeners = new Set();

export const onConnection = (listener) => listeners.add(listener);
const tell = (online) => listeners.forEach((listener) => listener(online));

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const detail = async (response) => {
  try {
    const body = await response.json();
    return typeof body.detail === "string" ? body.detail : body.detail.map((one) => `${one.loc.at(-1)}: ${one.msg}`).join("; ");
  } catch {
    return `The server answered ${response.status}.`;
  }
};

async function request(path, options) {
  const response = await fetch(path, { credentials: "same-origin", ...options });
  if (!response.ok) throw new Refused(response.status, await detail(response));
  return response;
}

export async function get(path) {
  const response = await request(path);
  tell(true);
  return response.json();
}

export async function getArrays(path) {
  const response = await request(path);
  return { buffer: await response.arrayBuffer(), fit: Number(response.headers.get("X-Fit")) };
}

export async function post(path, body = {}) {
  const options = {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await request(path, options);
      tell(true);
      return response.json();
    } catch (error) {
      if (error instanceof Refused && error.status < 500) throw error;
      tell(false);
      await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** attempt, 8000)));
    }
  }
}

export async function openSession(annotator, token) {
  const session = await post("/api/session", { annotator, token });
  csrf = session.csrf;
  return session;
}
