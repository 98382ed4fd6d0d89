// Asking the server.

export class ApiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The code with which a text in another language is refused. */
const FOREIGN = "P169";

/** Why a text in another language was refused. What to do, people are told by a button. */
export function refusalOf(error) {
  if (error?.code !== FOREIGN) return null;
  return error.message.slice(0, error.message.lastIndexOf(". ") + 1);
}

const CACHE_SIZE = 1000;
const TRIES = 5;
const cache = new Map();

/** What there is at an address. */
export async function look(path) {
  return read(await fetch(path));
}

/** Post to the API; answers are remembered. */
export async function ask(path, fields, signal) {
  const body = JSON.stringify(fields);
  const key = `${path} ${body}`;
  if (cache.has(key)) return cache.get(key);
  const answer = await read(await post(path, body, signal));
  cache.set(key, answer);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value);
  return answer;
}

/** Post to the API where it answers in lines, and give each as soon as it is there. */
export async function* askSteps(path, fields, signal) {
  const response = await post(path, JSON.stringify(fields), signal);
  if (!response.ok) await read(response);
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) yield checked(JSON.parse(line));
  }
}

/** A busy server is asked again. */
async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  for (let attempt = 1; ; attempt += 1) {
    let response;
    try {
      response = await fetch(path, { method: "POST", headers, body, signal });
    } catch {
      throw new ApiError(null, "The server does not answer. Is it still running?");
    }
    if (response.status !== 503 || attempt === TRIES) return response;
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    await new Promise((done) => setTimeout(done, seconds * 1000));
  }
}

async function read(response) {
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.startsWith("application/json")) {
    throw new ApiError(null, `The server answers: ${await response.text()}`);
  }
  return checked(await response.json());
}

function checked(answer) {
  if (answer.error) throw new ApiError(answer.error.code, answer.error.message);
  return answer;
}
