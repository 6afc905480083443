import type { JWKS } from "oidc-provider";
import { isCostlyKey } from "#core/crypto/costly-key.ts";
import { env } from "#core/env.ts";
import { invalidRequest, type ServiceError } from "#core/errors.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/parse-target.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { isLoopbackHost } from "./client-identity.ts";
import { algorithmsOf, MAX_KEYS, parseJwks } from "./client-keys.ts";

/** The limit lets a client remove a key soon. */
const KEYS_FRESH_SECONDS = 300;

/** Anybody can name any client in an assertion, and thereby cause fetches (S80). */
export const KEYS_BACKOFF_MS = 5_000;
const BACKOFFS_MAX = 10_000;
const backoffUntil = new Map<string, number>();

/** Throws for a response without keys. Otherwise the engine would keep the old keys for the `max-age` of an error page (S73). */
export const readClientKeys: typeof fetch = async (input, init) => {
  const { url } = new Request(input);
  if ((backoffUntil.get(url) ?? 0) > Date.now()) throw new TypeError("the keys could not be read a moment ago");
  try {
    const response = await fetchForEngine(input, init);
    if (response.status !== 200) throw new TypeError(`the server responded with status ${response.status}`);
    const keys = usableKeys(await response.text());
    if (!keys) throw new TypeError("the response is not a key set");
    return Response.json({ keys }, { headers: { "Cache-Control": `max-age=${freshSeconds(response.headers)}` } });
  } catch (error) {
    if (backoffUntil.size >= BACKOFFS_MAX) backoffUntil.clear();
    backoffUntil.set(url, Date.now() + KEYS_BACKOFF_MS);
    throw error;
  }
};

/** The engine tries every key that fits the algorithm, so their number is limited (S137). */
function usableKeys(body: string): object[] | undefined {
  try {
    const { keys } = JSON.parse(body) as { keys?: unknown };
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === "object" && key !== null && !Array.isArray(key)))
      return undefined;
    return keys.slice(0, MAX_KEYS).filter((key) => !isCostlyKey(key));
  } catch {
    return undefined;
  }
}

/** The engine adds its own minimum of one minute. */
function freshSeconds(headers: Headers): number {
  const [, maxAge = "0"] = /(?:^|[\s,])max-age=(\d+)/i.exec(headers.get("cache-control") ?? "") ?? [];
  return Math.min(Number(maxAge), KEYS_FRESH_SECONDS);
}

export async function fetchKeySet(url: string): Promise<JWKS> {
  const refuse = (reason: string) => invalidRequest(`The keys could not be read: ${reason}.`, "jwksUri");
  const response = await fetchForEngine(url, { headers: { Accept: "application/json" } }).catch((error: Error) => {
    throw refuse(error.message);
  });
  if (response.status !== 200) throw refuse(`the server responded with status ${response.status}`);
  const set = parse(new Uint8Array(await response.arrayBuffer()), refuse);
  if (!set.keys.some((key) => algorithmsOf(key).length > 0)) throw refuse("there is no RSA, P-256 or Ed25519 key");
  return set;
}

function parse(body: Uint8Array, refuse: (reason: string) => ServiceError): JWKS {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw refuse("the response is not JSON");
  }
  try {
    return parseJwks(value);
  } catch (error) {
    throw refuse((error as Error).message.replace(/\.$/, ""));
  }
}

const MAX_BODY_BYTES = 64 * 1024;
/** Short, because a user or a program is waiting. */
const DEADLINE_MS = 2_500;

/** The client chose the address (S77, S78). The engine's other arguments are only for its own `fetch`. */
export const fetchForEngine: typeof fetch = async (input, init) => {
  const request = new Request(input, { method: init?.method, headers: init?.headers, body: init?.body });
  request.headers.delete("user-agent");
  // On a local installation, plain http and any port are allowed.
  const isLocal = isLoopbackHost(new URL(env().ORIGIN).hostname);
  const result = await sendRequest({
    url: request.url,
    method: request.method === "POST" ? "POST" : "GET",
    headers: Object.fromEntries(request.headers),
    ...(request.body && { body: await request.text() }),
    deadlineMs: DEADLINE_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    onExcess: "fail",
    isHttpsRequired: !isLocal,
    ports: isLocal ? undefined : [443],
  });
  if (result.outcome !== "answered") {
    log().info({ address: loggableAddress(request.url), reason: result.reason }, "a URL could not be fetched for the engine");
    throw new TypeError(result.reason);
  }
  const { status, headers, body } = result;
  const hasBody = ![204, 205, 304].includes(status);
  const { "content-encoding": _encoding, "content-length": _length, ...rest } = headers;
  return new Response(hasBody ? Buffer.from(body) : null, { status, headers: rest });
};
