import type { Answer, IncomingRequest } from "../delivery/incoming-request.ts";
import { readBody } from "../delivery/read-body.ts";

export function fromRequest(request: Request): IncomingRequest {
  const { method, url, headers } = request;
  return {
    method,
    url,
    path: new URL(url).pathname,
    header: (name) => headers.get(name) ?? undefined,
    headers: () => new Headers(headers),
    body: ({ maxBytes, timeoutMs }) =>
      readBody(chunksOf(request), { maxBytes, timeoutMs, promised: headers.get("content-length") ?? undefined }),
    asRequest: () => request,
  };
}

export function toResponse({ status, body, headers = {} }: Answer, { method }: Pick<IncomingRequest, "method">): Response {
  // What frames the message on a connection is not for a `Response` to say.
  const { connection: _, ...rest } = headers;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  return new Response(isEmpty ? null : body, { status, headers: { "content-type": "application/json", ...rest } });
}

// Not every runtime's streams can be iterated.
async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed) throw new Error("The request's body was read before the receiver got it. Hand over the request unread.");
  const reader = request.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
