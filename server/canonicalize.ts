import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { CLIENT_ADDRESS_HEADER, clientAddress, isFromTrustedProxy } from "#core/http/client-address.ts";
import { recordUntrustedProxy } from "#core/operations/untrusted-proxy.ts";
import type { Target } from "./read-request.ts";

const SPOOFABLE = /^(host|forwarded|x-forwarded-.*|x-real-ip|x-client-ip|x-original-.*|x-rewrite-.*|x-keyhook-.*)$/;

/**
 * Makes the request look as if it had been sent to ORIGIN, so that nothing depends on what its headers claim (S110, RFC 9700
 * §4.13).
 * @returns the client's address
 */
export function canonicalize(req: IncomingMessage, requestId: string): string | null {
  recordUntrustedProxy(req);
  const address = clientAddress(req);
  const canonical: Record<string, string> = { ...originHeaders(env().ORIGIN), "x-request-id": requestId };
  if (address) {
    canonical["x-forwarded-for"] = address;
    canonical[CLIENT_ADDRESS_HEADER] = address;
  }

  for (const name of Object.keys(req.headers)) if (SPOOFABLE.test(name)) delete req.headers[name];
  Object.assign(req.headers, canonical);

  // Web `Request` objects are built from `rawHeaders`.
  const raw: string[] = [];
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const name = (req.rawHeaders[at] as string).toLowerCase();
    if (!SPOOFABLE.test(name) && name !== "x-request-id") raw.push(name, req.rawHeaders[at + 1] as string);
  }
  for (const [name, value] of Object.entries(canonical)) raw.push(name, value);
  req.rawHeaders = raw;
  return address;
}

let known: { origin: string; headers: Record<string, string> } | undefined;

function originHeaders(origin: string): Record<string, string> {
  if (known?.origin === origin) return known.headers;
  const { host, port, protocol } = new URL(origin);
  const headers = {
    host,
    "x-forwarded-host": host,
    "x-forwarded-proto": protocol.slice(0, -1),
    "x-forwarded-port": port || (protocol === "https:" ? "443" : "80"),
  };
  known = { origin, headers };
  return headers;
}

/**
 * Call this before `canonicalize`. The header Host counts only if users reach this process directly. A proxy may set it to
 * anything, so that redirects could loop.
 */
export function canonicalLocation(req: IncomingMessage, { pathname, search }: Target): string | undefined {
  if (req.method !== "GET" && req.method !== "HEAD") return undefined;
  const { ORIGIN, PORT } = env();
  const { host, port, protocol } = new URL(ORIGIN);
  const isServedDirectly = protocol === "http:" && Number(port || 80) === PORT;
  const forwarded = isFromTrustedProxy(req) ? firstOf(req.headers["x-forwarded-host"]) : undefined;
  const asked = forwarded ?? (isServedDirectly ? req.headers.host : undefined);
  if (asked === undefined || asked.toLowerCase() === host) return undefined;
  return ORIGIN + pathname.replace(/^\/{2,}/, "/") + search;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? "")
      .split(",")[0]
      ?.trim() || undefined
  );
}
