import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { env } from "#core/env.ts";
import { joinOrgIds } from "./org-ids.ts";

/**
 * What happens to a protocol request before the engine sees it: it is made to fit what the engine expects, and what could
 * only end in a server error is refused (S51).
 */

/** An answer without the engine: an RFC 6749 error body, or a page where a person waits. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
  readonly status: number;
  readonly error: string;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, description: string, headers: Record<string, string> = {}) {
    super(description);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

const BODY_MAX_BYTES = 64 * 1024;
const PARAMETERS_MAX = 100;
const FORM = "application/x-www-form-urlencoded";

/** Endpoints that take JSON as well as forms (wire.md 0.7, 0.10). */
const JSON_PATHS = new Set(["/oauth/token", "/oauth/device"]);

/** Host and scheme as everybody should see them, whatever the request says of itself (S110). */
export function pinHost(headers: IncomingMessage["headers"], clientAddress: string): void {
  const { host, protocol } = new URL(env().ORIGIN);
  headers.host = host;
  headers["x-forwarded-proto"] = protocol.slice(0, -1);
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-for"] = clientAddress;
  delete headers.forwarded;
}

/** Percent-encoding that is no UTF-8, and NUL, which Postgres cannot hold. */
export function checkText(encoded: string): void {
  let text: string;
  try {
    text = decodeURIComponent(encoded.replaceAll("+", " "));
  } catch {
    throw new ProtocolError(400, "invalid_request", "the request is not valid UTF-8");
  }
  if (text.includes("\0")) throw new ProtocolError(400, "invalid_request", "the request contains a NUL character");
  if (encoded.split("&").length > PARAMETERS_MAX) {
    throw new ProtocolError(400, "invalid_request", `the request has more than ${PARAMETERS_MAX} parameters`);
  }
}

/** The request's URL, with its query checked and repeated `orgIds` folded into one. */
export function preparedUrl(url: string): string {
  const at = url.indexOf("?");
  if (at === -1) return url;
  const query = url.slice(at + 1);
  checkText(query);
  return query.includes("orgIds=") ? `${url.slice(0, at)}?${joinOrgIds(new URLSearchParams(query))}` : url;
}

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new ProtocolError(413, "invalid_request", `the request body is larger than ${BODY_MAX_BYTES} bytes`);
  if (Number(req.headers["content-length"] ?? 0) > BODY_MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let received = 0;
  // The connection stays open when reading stops, so that the answer reaches the client.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    received += chunk.length;
    if (received > BODY_MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The form of a POST; JSON is accepted where documented, as a flat object of strings. */
export async function readForm(req: IncomingMessage, path: string): Promise<URLSearchParams> {
  const contentType = (req.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  const body = await readBody(req);
  if (body.length === 0) return new URLSearchParams();
  if (contentType === "application/json" && JSON_PATHS.has(path)) return formFromJson(body);
  if (contentType !== FORM) throw new ProtocolError(400, "invalid_request", `only ${FORM} bodies are supported here`);
  const form = body.toString("latin1");
  checkText(form);
  return joinOrgIds(new URLSearchParams(form));
}

function formFromJson(body: Buffer): URLSearchParams {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new ProtocolError(400, "invalid_request", "the request body is not valid JSON");
  }
  const entries = Object.entries(value ?? {});
  if (typeof value !== "object" || Array.isArray(value) || entries.some(([, each]) => typeof each !== "string")) {
    throw new ProtocolError(400, "invalid_request", "the JSON body must be an object whose values are strings");
  }
  const form = new URLSearchParams(entries as [string, string][]);
  checkText(form.toString());
  return form;
}

/** The same request with another body: the engine reads a request as a stream, and that one has been read. */
export function withForm(req: IncomingMessage, form: URLSearchParams): IncomingMessage {
  const body = Buffer.from(form.toString());
  const replay = Readable.from(body.length > 0 ? [body] : [], { objectMode: false });
  const headers = { ...req.headers, "content-type": FORM, "content-length": String(body.length) };
  delete headers["transfer-encoding"];
  const { method, url, socket, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  return Object.assign(replay, {
    method,
    url,
    originalUrl: url,
    headers,
    socket,
    connection: socket,
    httpVersion,
    httpVersionMajor,
    httpVersionMinor,
  }) as unknown as IncomingMessage;
}
