import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { env } from "#core/env.ts";
import { hasLongHost } from "#core/http/has-long-host.ts";
import { malformedParameters } from "#core/http/malformed-parameters.ts";
import { joinOrgIds } from "./authorization/org-ids.ts";
import { methodsOf, protocolRoutes } from "./protocol-routes.ts";

/** Becomes an RFC 6749 body for a program, and a page for a user. */
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

/** RFC 6749 §5.2: error_description is printable ASCII without " and \ (S38). */
export function printable(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, "?");
}

const BODY_MAX_BYTES = 64 * 1024;
const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

/** These endpoints accept JSON besides forms (C7, C10 in docs/specification/existing-clients.md). */
const JSON_PATHS: ReadonlySet<string> = new Set([protocolRoutes.token, protocolRoutes.device_authorization]);

/** See S37. */
export function checkMethod(method: string | undefined, path: string): void {
  const allowed = methodsOf(path);
  if (!allowed) throw new ProtocolError(404, "not_found", "this URL does not exist");
  if (method && allowed.includes(method)) return;
  throw new ProtocolError(405, "invalid_request", `this URL accepts ${allowed.join(", ")}`, { Allow: allowed.join(", ") });
}

/** Sets the canonical host and scheme (S110). */
export function pinHost(headers: IncomingMessage["headers"], clientAddress: string): void {
  const { host, protocol } = new URL(env().ORIGIN);
  headers.host = host;
  headers["x-forwarded-proto"] = protocol.slice(0, -1);
  headers["x-forwarded-host"] = host;
  headers["x-forwarded-for"] = clientAddress;
  delete headers.forwarded;
}

function checkParameters(encoded: string): void {
  const problem = malformedParameters(encoded);
  if (problem) throw new ProtocolError(400, "invalid_request", problem);
  // The engine parses some of the values as URLs.
  const long = [...new URLSearchParams(encoded)].find(([, value]) => hasLongHost(value));
  if (long) throw new ProtocolError(400, "invalid_request", `${long[0].slice(0, 50)} is a URL with a host name that is too long`);
}

export function preparedUrl(url: string): string {
  const at = url.indexOf("?");
  if (at === -1) return url;
  const query = url.slice(at + 1);
  checkParameters(query);
  return query.includes("orgIds=") ? `${url.slice(0, at)}?${joinOrgIds(new URLSearchParams(query))}` : url;
}

const tooLarge = () =>
  new ProtocolError(413, "invalid_request", `the request body is larger than ${BODY_MAX_BYTES.toLocaleString("en")} bytes`);

export function checkLength({ headers }: IncomingMessage): void {
  if (Number(headers["content-length"] ?? 0) > BODY_MAX_BYTES) throw tooLarge();
}

function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let received = 0;
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      received += chunk.length;
      chunks.push(chunk);
      if (received <= BODY_MAX_BYTES) return;
      // The connection stays open for the response.
      req.off("data", take).pause();
      reject(tooLarge());
    };
    const cutOff = () => reject(new ProtocolError(400, "invalid_request", "the request body was cut off"));
    if (req.errored) return cutOff();
    req.on("data", take).once("end", () => resolve(Buffer.concat(chunks)));
    req.once("error", cutOff);
  });
}

/** RFC 7591 §3.1. */
export async function readJsonObject(req: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readBody(req);
  if (mediaType(req) !== JSON_TYPE) {
    throw new ProtocolError(400, "invalid_client_metadata", `only ${JSON_TYPE} bodies are supported`);
  }
  const value = parseJson(decodeUtf8(body));
  if (typeof value !== "object" || !value || Array.isArray(value)) {
    throw new ProtocolError(400, "invalid_client_metadata", "the JSON body must be an object");
  }
  return value as Record<string, unknown>;
}

export async function readForm(req: IncomingMessage, path: string): Promise<URLSearchParams> {
  const contentType = mediaType(req);
  const body = await readBody(req);
  if (body.length === 0) return new URLSearchParams();
  if (contentType === JSON_TYPE && JSON_PATHS.has(path)) return formFromJson(body);
  if (contentType !== FORM) throw new ProtocolError(400, "invalid_request", `only ${FORM} bodies are supported`);
  const form = decodeUtf8(body);
  checkParameters(form);
  return joinOrgIds(new URLSearchParams(form));
}

function mediaType({ headers }: IncomingMessage): string | undefined {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolError(400, "invalid_request", "the request body is not valid JSON");
  }
}

function formFromJson(body: Buffer): URLSearchParams {
  const value = parseJson(decodeUtf8(body));
  const entries = Object.entries(value ?? {});
  if (typeof value !== "object" || !value || Array.isArray(value) || entries.some(([, each]) => typeof each !== "string")) {
    throw new ProtocolError(400, "invalid_request", "the JSON body must be an object whose values are strings");
  }
  const form = new URLSearchParams(entries as [string, string][]);
  checkParameters(form.toString());
  return form;
}

function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    throw new ProtocolError(400, "invalid_request", "the request is not valid UTF-8");
  }
}

export function withForm(req: IncomingMessage, form: URLSearchParams): IncomingMessage {
  const body = Buffer.from(form.toString());
  const replay = new Readable({ read: () => undefined });
  if (body.length > 0) replay.push(body);
  replay.push(null);
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

/**
 * Both methods mean the same (OIDC Core §3.1.2.1, RP-Initiated Logout §2). For a POST, the engine would need cookies with
 * SameSite=None, which any site could make the browser send.
 */
export function asGet(req: IncomingMessage, path: string, form: URLSearchParams): IncomingMessage {
  const url = `${path}?${form}`;
  return Object.assign(withForm(req, new URLSearchParams()), { method: "GET", url, originalUrl: url });
}
