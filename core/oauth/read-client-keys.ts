import { fetchForEngine } from "./fetch-for-engine.ts";

/** A server that allows a year of caching could not take a key back for a year. */
const KEYS_FRESH_SECONDS = 300;

/** After a key set could not be read it is left alone for this long, whoever asks: anybody can name any client in an assertion (S80). */
export const KEYS_REST_MS = 5_000;
const RESTING_MAX = 10_000;
const resting = new Map<string, number>();

/**
 * How the engine reads a client's `jwks_uri`, the one thing that it fetches. What is no key set is a failure as if nobody had
 * answered: the engine would go on with the keys that it has, for as long as an error page may be cached, and so honour those that
 * the client has taken away (S73).
 */
export const readClientKeys: typeof fetch = async (input, init) => {
  const { url } = new Request(input);
  if ((resting.get(url) ?? 0) > Date.now()) throw new TypeError("its keys could not be read a moment ago");
  try {
    const response = await fetchForEngine(input, init);
    if (response.status !== 200) throw new TypeError(`the server answered ${response.status}`);
    const body = await response.text();
    if (!isKeySet(body)) throw new TypeError("the answer is no key set");
    return new Response(body, { headers: { "Cache-Control": `max-age=${freshSeconds(response.headers)}` } });
  } catch (error) {
    if (resting.size >= RESTING_MAX) resting.clear();
    resting.set(url, Date.now() + KEYS_REST_MS);
    throw error;
  }
};

function isKeySet(body: string): boolean {
  try {
    const { keys } = JSON.parse(body) as { keys?: unknown };
    return Array.isArray(keys) && keys.every((key) => typeof key === "object" && key !== null && !Array.isArray(key));
  } catch {
    return false;
  }
}

/** The engine adds its own floor of a minute. */
function freshSeconds(headers: Headers): number {
  const [, maxAge = "0"] = /(?:^|[\s,])max-age=(\d+)/i.exec(headers.get("cache-control") ?? "") ?? [];
  return Math.min(Number(maxAge), KEYS_FRESH_SECONDS);
}
