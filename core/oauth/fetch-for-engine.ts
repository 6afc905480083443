import { env } from "#core/env.ts";
import { log } from "#core/log.ts";
import { loggableAddress } from "#core/outbound/loggable-address.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { isLoopbackHost } from "./client-identity.ts";

/** A key set of fifty RSA keys has a third of it. */
const MAX_BODY_BYTES = 64 * 1024;
/** A user or a program is waiting. */
const DEADLINE_MS = 2_500;

/**
 * How the engine fetches a client's `jwks_uri`: through the guard, like every request to an address that somebody else chose (S77, S78).
 * What the engine passes beyond the request itself (a dispatcher, a signal, an empty User-Agent) is meant for its own fetch.
 */
export const fetchForEngine: typeof fetch = async (input, init) => {
  const request = new Request(input, { method: init?.method, headers: init?.headers, body: init?.body });
  request.headers.delete("user-agent");
  // On a developer's machine key sets may come over plain http and from any port, as registration allows there.
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
    log().info(
      { address: loggableAddress(request.url), reason: result.reason },
      "what the engine asked for could not be fetched",
    );
    throw new TypeError(result.reason);
  }
  const { status, headers, body } = result;
  const hasBody = ![204, 205, 304].includes(status);
  // The body is already decompressed.
  const { "content-encoding": _encoding, "content-length": _length, ...rest } = headers;
  return new Response(hasBody ? Buffer.from(body) : null, { status, headers: rest });
};
