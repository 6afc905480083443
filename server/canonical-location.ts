import type { IncomingMessage } from "node:http";
import { env } from "#core/env.ts";
import { isFromTrustedProxy } from "#core/http/client-address.ts";
import type { Target } from "./parse-target.ts";

/**
 * The proper URL of a page requested under another name, so that cookies and forms belong to one origin only; undefined if it was requested
 * under ORIGIN, or if that is unknown. Call it before `canonicalize`.
 *
 * Host is what the user typed only without a proxy: when ORIGIN is http and on our own port. Otherwise a proxy's Host may be anything
 * (nginx sends the upstream's by default), and redirecting on it would loop; then only a trusted proxy's X-Forwarded-Host counts.
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
