import { mayForeignAnswerHave } from "../../http/foreign-answer-headers.ts";
import { connectionNames, HOP_BY_HOP } from "../../http/hop-by-hop.ts";
import type { HeaderList } from "../inbox/take-request.ts";

/**
 * Headers of every response below a relay's URL. The content is a user's, on our origin: as a page it has no origin, runs
 * nothing, loads nothing, sends no forms, and cannot be framed or cached (S141).
 */
export const relayHeaders = {
  "Content-Security-Policy": "sandbox; default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
} as const;

/** Headers that a Space's app may send and a handler may not: they redirect a browser, save a file, or cache a response, in our name. */
const WITHHELD =
  /^(location|content-location|content-disposition|content-length|cache-control|expires|pragma|age|etag|last-modified|vary|date|x-robots-tag|sec-websocket-.*)$/;

/** Types that a browser would run or apply if one of our pages referred to them, or would show as a page of ours. */
const ACTIVE = /(java|ecma|j|live)script|wasm|css|html|xml|svg|pdf|manifest|multipart|x-mixed/i;

/** The headers of a handler's response that are passed back. */
export function callerHeaders(headers: HeaderList, { isFromBrowser }: { isFromBrowser: boolean }): [string, string][] {
  const named = new Set(
    headers.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => connectionNames(value)),
  );
  const kept = headers.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !named.has(key) && mayForeignAnswerHave(key) && !WITHHELD.test(key);
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
