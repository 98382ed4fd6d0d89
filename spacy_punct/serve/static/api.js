// Asking the server, one request after the other.

export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const CACHE_SIZE = 1000;
const TRIES = 5;
const cache = new Map();

export async function about() {
  return read(await fetch("about"));
}

/** Post to the API; answers are remembered, and a busy server is asked again. */
export async function ask(path, fields) {
  const body = JSON.stringify(fields);
  const key = `${path} ${body}`;
  if (cache.has(key)) return cache.get(key);
  for (let attempt = 1; ; attempt += 1) {
    const response = await post(path, body);
    if (response.status === 503 && attempt < TRIES) {
      const seconds = Number(response.headers.get("Retry-After")) || 1;
      await new Promise((done) => setTimeout(done, seconds * 1000));
      continue;
    }
    const answer = await read(response);
    cache.set(key, answer);
    if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value);
    return answer;
  }
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  try {
    return await fetch(path, { method: "POST", headers, body });
  } catch {
    throw new ApiError(null, "The server does not answer. Is it still running?");
  }
}

async function read(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("application/json")) {
    throw new ApiError(null, `The server answers: ${await response.text()}`);
  }
  const answer = await response.json();
  if (answer.error) throw new ApiError(answer.error.code, answer.error.message);
  return answer;
}
