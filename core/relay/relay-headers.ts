import { env } from "../env.ts";
import { isForeignHeaderAllowed } from "../http/foreign-response-headers.ts";
import { connectionNames, HOP_BY_HOP } from "../http/hop-by-hop.ts";
import type { HeaderList } from "./inbox/take-request.ts";

/** Credentials for this service, headers that only this service may set, and headers that frame the message. */
const WITHHELD_FROM_HANDLER =
  /^(cookie2?|dpop|host|content-length|forwarded|x-forwarded-.*|x-real-ip|x-request-id|x-keyhook-.*|content-security-policy)$/;

/** @param raw `IncomingMessage.rawHeaders`, whose order and repetitions are kept */
export function handlerHeaders(raw: readonly string[], { ip, requestId }: { ip: string | null; requestId: string }): HeaderList {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2] as string, raw[at * 2 + 1] as string] as const);
  const named = new Set(
    pairs.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => connectionNames(value)),
  );
  const isFromBrowser = pairs.some(([name]) => /^sec-fetch-/i.test(name));
  const { host, protocol } = new URL(env().ORIGIN);
  const passed = pairs.filter(([name, value]) => {
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || named.has(key) || WITHHELD_FROM_HANDLER.test(key)) return false;
    // A browser repeats the password that a user once entered for git. Other clients may send credentials to the handler.
    if (key === "authorization") return !isFromBrowser && !isOurs(value);
    return key !== "referer" || !value.startsWith(env().ORIGIN);
  });
  return [
    ["host", host],
    ...passed,
    ...(ip ? [["x-forwarded-for", ip] as const] : []),
    ["x-forwarded-host", host],
    ["x-forwarded-proto", protocol.slice(0, -1)],
    ["x-request-id", requestId],
  ];
}

function isOurs(value: string): boolean {
  const prefix = env().TOKEN_PREFIX;
  const [, basic] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(value) ?? [];
  const text = basic === undefined ? value : Buffer.from(basic, "base64").toString("latin1");
  return text.includes(prefix);
}

/** A user's content on this origin must not run, load, send, be framed or be cached (S141). */
export const relayHeaders = {
  "Content-Security-Policy": "sandbox; default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
} as const;

/** These headers redirect a browser, save a file, or cache a response in this service's name. */
const WITHHELD_FROM_CALLER =
  /^(location|content-location|content-disposition|content-length|cache-control|expires|pragma|age|etag|last-modified|vary|date|x-robots-tag|sec-websocket-.*)$/;

/** A browser would run or apply these types, or show them as a page of this service. */
const ACTIVE = /(java|ecma|j|live)script|wasm|css|html|xml|svg|pdf|manifest|multipart|x-mixed/i;

export function callerHeaders(headers: HeaderList, { isFromBrowser }: { isFromBrowser: boolean }): [string, string][] {
  const named = new Set(
    headers.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => connectionNames(value)),
  );
  const kept = headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !named.has(key) && isForeignHeaderAllowed(key) && !WITHHELD_FROM_CALLER.test(key);
  });
  const shown = kept.map(([name, value]): [string, string] =>
    name.toLowerCase() === "content-type" ? [name, shownType(value, isFromBrowser)] : [name, value],
  );
  const isTyped = shown.some(([name]) => name.toLowerCase() === "content-type");
  return [
    ...shown,
    ...(isTyped ? [] : [["Content-Type", "application/octet-stream"] as [string, string]]),
    ...(Object.entries(relayHeaders) as [string, string][]),
  ];
}

const shownType = (type: string, isFromBrowser: boolean): string =>
  /script|wasm|css/i.test(type) || (isFromBrowser && ACTIVE.test(type)) ? "text/plain; charset=utf-8" : type;
