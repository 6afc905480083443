import type { HeaderPairs, RelayAnswer, RelayedRequest } from "./relayed-request.ts";

export type ForwardOptions = {
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How long the server may take to answer. Default 60,000. */
  timeoutMs?: number | undefined;
};

const TIMEOUT_MS = 60_000;
/** What an answer may have (the service takes no more). */
const BODY_MAX_BYTES = 8 * 1024 * 1024;

/** They frame the message on one connection, or name a host that the local server is not. */
const OWN = /^(host|connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;
/** `fetch` has undone them. */
const UNDONE = /^(content-encoding|content-length|transfer-encoding|connection|keep-alive)$/i;

/**
 * A `handle` for `listenToRelay` that sends each request on to a server of one's own, the body byte for byte. Where nobody answers there it
 * answers 502, so that a delivery is tried again.
 * @param url where to: `http://localhost:3000`, or with a path that is put before each request's
 */
export function forwardTo(url: string, { fetch: given, timeoutMs = TIMEOUT_MS }: ForwardOptions = {}) {
  const base = new URL(url);
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new TypeError(`Forward to an address with http:// or https://, not ${url}`);
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
      if (!answered) return failed(`the answer has more than ${BODY_MAX_BYTES / 1024 / 1024} MiB`);
      const kept: HeaderPairs = [...response.headers].filter(([name]) => !UNDONE.test(name));
      return { status: response.status, headers: kept, body: answered };
    } catch (error) {
      if (ending.aborted) return failed(`no answer within ${timeoutMs / 1000} s`, 504);
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
    error_description: "The path leads out of the address that is forwarded to.",
  }),
};

/**
 * Never at another host, whatever the path begins with.
 * @returns undefined where `..` in it would lead out of the base's own path: whoever knows the relay's address sends what they like
 */
function addressOf(base: URL, path: string): URL | undefined {
  const prefix = base.pathname.replace(/\/$/, "");
  const at = path.indexOf("?");
  const [pathname, query] = at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at)];
  const whole = pathname === "/" && prefix !== "" ? prefix : prefix + (pathname.startsWith("/") ? pathname : `/${pathname}`);
  const address = new URL(base.origin + whole + (query || base.search));
  return `${address.pathname}/`.startsWith(`${prefix}/`) ? address : undefined;
}

function headersOf(pairs: HeaderPairs): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) if (!OWN.test(name)) headers.append(name, value);
  return headers;
}

/** @returns undefined of a body that is too long */
async function readBytes(response: Response): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.length;
    if (size > BODY_MAX_BYTES) {
      await reader.cancel();
      return undefined;
    }
    pieces.push(piece.value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
