import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../create-receiver.ts";
import { type Answer, type IncomingRequest, RefusedError, readBody, tooLarge, tooSlow } from "../delivery/incoming-request.ts";

/** Express adds properties to Node's own objects. Fastify wraps these objects, together with the parsed body. */
export type FrameworkRequest = { raw?: IncomingMessage; body?: unknown; rawBody?: unknown };
export type FrameworkResponse = { raw?: ServerResponse; hijack?: () => unknown };

export async function answerNode(receiver: Receiver, given: object, reply: object): Promise<void> {
  const wrapped = given as FrameworkRequest;
  const wrapper = reply as FrameworkResponse;
  const request = wrapped.raw ?? (given as IncomingMessage);
  const response = wrapper.raw ?? (reply as ServerResponse);
  wrapper.hijack?.();
  const incoming = fromNode(request, wrapped);
  send(request, response, await receiver.answer(incoming));
}

function fromNode(request: IncomingMessage, parsed: FrameworkRequest = {}): IncomingRequest {
  const { headers, method = "GET", url: target = "/" } = request;
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const queryAt = target.indexOf("?");
  const scheme = (request.socket as { encrypted?: boolean }).encrypted ? "https" : "http";
  const incoming: IncomingRequest = {
    method,
    url: `${scheme}://${safeHost(headers.host)}${target.startsWith("/") ? target : "/"}`,
    path: queryAt === -1 ? target : target.slice(0, queryAt),
    header,
    headers: () => {
      const all = new Headers();
      for (let at = 0; at < request.rawHeaders.length; at += 2) {
        try {
          all.append(request.rawHeaders[at] as string, request.rawHeaders[at + 1] as string);
        } catch {
          // Node accepts this header, but the Fetch API does not.
        }
      }
      return all;
    },
    body: ({ maxBytes, timeoutMs }) => {
      const read = alreadyRead(request, parsed);
      if (read && read.byteLength > maxBytes) return Promise.reject(tooLarge(maxBytes));
      return read ? Promise.resolve(read) : readStream(request, { maxBytes, timeoutMs });
    },
    // Only proxies use HTTP/1.0, such as nginx before 1.29.7. They do not name the visitor, so the address is not known.
    remoteAddress: request.httpVersion === "1.0" ? undefined : request.socket.remoteAddress,
    asRequest: () => new Request(incoming.url, { method, headers: incoming.headers() }),
  };
  return incoming;
}

/** Does the same as `readBody` faster: iterating over a Node stream takes several times as long. */
function readStream(
  request: IncomingMessage,
  { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number },
): Promise<Uint8Array> {
  if (Number(request.headers["content-length"]) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > maxBytes) settle(() => reject(tooLarge(maxBytes)));
    };
    const onEnd = () => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    const onGone = () => settle(() => reject(new RefusedError(400, "The body was cut off.", { connection: "close" })));
    const timer = setTimeout(() => settle(() => reject(tooSlow())), timeoutMs);
    function settle(how: () => void) {
      clearTimeout(timer);
      // The request is not destroyed, because the response must still be written.
      request.pause().off("data", onData).off("end", onEnd).off("close", onGone);
      how();
    }
    request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  });
}

const safeHost = (host = "localhost") => (/^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`) ? host : "localhost");

/** Returns the bytes that a body parser kept. A parsed object is not enough, because the signature covers the bytes. */
function alreadyRead(request: IncomingMessage, parsed: FrameworkRequest): Uint8Array | undefined {
  for (const candidate of [parsed.rawBody, (request as FrameworkRequest).rawBody, parsed.body]) {
    if (candidate instanceof Uint8Array) return candidate;
    if (typeof candidate === "string") return Buffer.from(candidate);
  }
  if (!request.readableEnded && !request.readableDidRead) return undefined;
  throw new Error(
    "Something has read the request's body before the receiver, which needs the bytes as they arrived. Mount the receiver before " +
      "express.json(), or let the parser keep them: express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } }); with " +
      'Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (_req, body, done) => done(null, body)).',
  );
}

export function send(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, "content-length": bytes.byteLength });
  // Ends the connection, because Node would read the rest of a refused body before the connection's next request.
  if (headers.connection === "close") response.once("finish", () => setTimeout(() => request.destroy(), 250).unref());
  response.end(request.method === "HEAD" ? undefined : bytes);
}

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
  // A `Response` must not have headers that are about a connection.
  const { connection: _, ...rest } = headers;
  const isEmpty = method === "HEAD" || status === 204 || status === 304;
  return new Response(isEmpty ? null : body, { status, headers: { "content-type": "application/json", ...rest } });
}

// In some runtimes, streams cannot be iterated.
async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  if (request.bodyUsed) throw new Error("The request's body was read before the receiver got it. Pass on the request unread.");
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
