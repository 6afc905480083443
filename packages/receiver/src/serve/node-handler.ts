import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../create-receiver.ts";
import { type Answer, type IncomingRequest, RefusedError } from "../delivery/incoming-request.ts";
import { tooLarge, tooSlow } from "../delivery/read-body.ts";

/** Express adds to Node's own; Fastify wraps it, with what its parsers have read beside it. */
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
          // Node lets through what the Fetch API has no place for.
        }
      }
      return all;
    },
    body: ({ maxBytes, timeoutMs }) => {
      const read = alreadyRead(request, parsed);
      if (read && read.byteLength > maxBytes) return Promise.reject(tooLarge(maxBytes));
      return read ? Promise.resolve(read) : readStream(request, { maxBytes, timeoutMs });
    },
    // No browser speaks HTTP/1.0, and nginx does unless it is told otherwise, from this machine and for nobody that it names.
    remoteAddress: request.httpVersion === "1.0" ? undefined : request.socket.remoteAddress,
    asRequest: () => new Request(incoming.url, { method, headers: incoming.headers() }),
  };
  return incoming;
}

/** As `readBody` does it. Iterating over a stream of Node's takes several times as long as listening to it. */
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
    // Nobody is left to read the answer.
    const onGone = () => settle(() => reject(new RefusedError(400, "The body ended before its end.", { connection: "close" })));
    const timer = setTimeout(() => settle(() => reject(tooSlow())), timeoutMs);
    function settle(how: () => void) {
      clearTimeout(timer);
      // Not destroyed: there is an answer to be written.
      request.pause().off("data", onData).off("end", onEnd).off("close", onGone);
      how();
    }
    request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  });
}

const safeHost = (host = "localhost") => (/^[\w.:[\]-]+$/.test(host) && URL.canParse(`http://${host}`) ? host : "localhost");

/** What a body parser has left. Of a parsed object alone the bytes are gone, and with them what the signature is over. */
function alreadyRead(request: IncomingMessage, parsed: FrameworkRequest): Uint8Array | undefined {
  for (const candidate of [parsed.rawBody, (request as FrameworkRequest).rawBody, parsed.body]) {
    if (candidate instanceof Uint8Array) return candidate;
    if (typeof candidate === "string") return Buffer.from(candidate);
  }
  if (!request.readableEnded && !request.readableDidRead) return undefined;
  throw new Error(
    "Something has read the request's body before the receiver, which needs the bytes as they came. Mount the receiver before " +
      "express.json(), or let the parser keep them: express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } }); with " +
      'Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (_req, body, done) => done(null, body)).',
  );
}

export function send(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, "content-length": bytes.byteLength });
  // What is left of a body that is not wanted would otherwise be read to its end, for the next request of the connection.
  if (headers.connection === "close") response.once("finish", () => setTimeout(() => request.destroy(), 250).unref());
  response.end(request.method === "HEAD" ? undefined : bytes);
}
