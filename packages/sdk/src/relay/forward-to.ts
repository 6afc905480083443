import type { HeaderPairs, RelayAnswer, RelayedRequest } from "./relayed-request.ts";

/** Options of {@link forwardTo}. @group Relay */
export type ForwardOptions = {
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How long the server may take to respond, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
};

const TIMEOUT_MS = 60_000;
/** The largest response that the service accepts. */
const BODY_MAX_BYTES = 8 * 1024 * 1024;

/** Headers that are about one connection, or that name the service's host. */
const OWN = /^(host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
/** Headers about the server's own connection, and headers that are no longer true after `fetch` has decoded the body. */
const UNDONE = /^(content-encoding|content-length|transfer-encoding|connection|keep-alive)$/i;

/**
 * Creates a `handle` for {@link listenToRelay}. It forwards each request to your own server, with the same bytes as its body. If
 * that server does not respond, the service gets 502 (504 after the time limit) and retries a delivery.
 * @param url The server, `http://localhost:3000`. The path of each request follows the path of this URL, and cannot lead out of it.
 * @param options `fetch` and `timeoutMs`.
 * @returns The handler.
 * @throws TypeError if `url` does not begin with `http://` or `https://`.
 * @group Relay
 */
export function forwardTo(url: string, { fetch: given, timeoutMs = TIMEOUT_MS }: ForwardOptions = {}) {
  const base = new URL(url);
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new TypeError(`Forward to an http:// or https:// URL, not ${url}`);
  const doFetch: typeof fetch = given ?? ((input, init) => fetch(input, init));

  return async function forward({ method, path, headers, body }: RelayedRequest): Promise<RelayAnswer> {
    const address = addressOf(base, path);
    if (!address) return refused;
    const ending = AbortSignal.timeout(timeoutMs);
    const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD";
    try {
      const response = await doFetch(address, {
        method,
        headers: headersOf(headers),
        ...(hasBody && { body }),
        redirect: "manual",
        signal: ending,
      });
      const answered = await readBytes(response);
      if (!answered) return failed(`the response is larger than ${BODY_MAX_BYTES / 1024 / 1024} MiB`);
      const kept: HeaderPairs = [...response.headers].filter(([name]) => !UNDONE.test(name));
      return { status: response.status, headers: kept, body: answered };
    } catch (error) {
      if (ending.aborted) return failed(`no response within ${timeoutMs / 1000} s`, 504);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return failed(cause instanceof Error ? cause.message : String(cause));
    }
  };

  function failed(reason: string, status = 502): RelayAnswer {
    const body = JSON.stringify({ error: "handler_unreachable", error_description: `${base.origin}: ${reason}` });
    return { status, headers: [["content-type", "application/json"]], body };
  }
}

const refused: RelayAnswer = {
  status: 400,
  headers: [["content-type", "application/json"]],
  body: JSON.stringify({
    error: "invalid_request",
    error_description: "The path leads outside the forwarding URL.",
  }),
};

/** Servers see `..` in these places, too: some decode slashes, merge them, or remove parameters first. */
const HIDDEN_DOTS = /(?:\/|%2f|%5c)(?:\.|%2e){2}(?:\/|%2f|%5c|;|%3b|$)/i;

/** Returns undefined if the path would lead out of the base's own path. Anybody who knows the relay's URL can send any path. */
function addressOf(base: URL, path: string): URL | undefined {
  const prefix = base.pathname.replace(/\/$/, "");
  const at = path.indexOf("?");
  const [pathname, query] = at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at)];
  const whole = pathname === "/" && prefix !== "" ? prefix : prefix + (pathname.startsWith("/") ? pathname : `/${pathname}`);
  const address = new URL(base.origin + whole + (query || base.search));
  if (prefix === "") return address;
  const isInside = `${address.pathname}/`.startsWith(`${prefix}/`) && !HIDDEN_DOTS.test(address.pathname);
  return isInside ? address : undefined;
}

function headersOf(pairs: HeaderPairs): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) if (!OWN.test(name)) headers.append(name, value);
  return headers;
}

/** Returns undefined if the body is too long. */
async function readBytes(response: Response): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    size += chunk.value.length;
    if (size > BODY_MAX_BYTES) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(chunk.value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
