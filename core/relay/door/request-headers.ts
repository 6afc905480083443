import { env } from "../../env.ts";
import { connectionNames, HOP_BY_HOP } from "../../http/hop-by-hop.ts";
import type { HeaderList } from "../inbox/take-request.ts";

/** Never passed on: credentials for our service, headers that only we may set, and those that frame the message. */
const WITHHELD =
  /^(cookie2?|dpop|host|content-length|forwarded|x-forwarded-.*|x-real-ip|x-request-id|x-keyhook-.*|content-security-policy)$/;

/**
 * The headers of a request that a handler gets: as received, in order and with repetitions, without those of one connection and
 * those that sign somebody in to us; plus where the request came from, as we know it.
 * @param raw `IncomingMessage.rawHeaders`
 */
export function handlerHeaders(raw: readonly string[], { ip, requestId }: { ip: string | null; requestId: string }): HeaderList {
  const pairs = Array.from({ length: raw.length / 2 }, (_, at) => [raw[at * 2] as string, raw[at * 2 + 1] as string] as const);
  const named = new Set(
    pairs.filter(([name]) => name.toLowerCase() === "connection").flatMap(([, value]) => connectionNames(value)),
  );
  const isFromBrowser = pairs.some(([name]) => /^sec-fetch-/i.test(name));
  const { host, protocol } = new URL(env().ORIGIN);
  const passed = pairs.filter(([name, value]) => {
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || named.has(key) || WITHHELD.test(key)) return false;
    // A browser automatically adds the credentials given for our git; and a token of ours is never passed on, whoever sent it.
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

/** Whether a credential contains one of our tokens, plain or in Basic. */
function isOurs(value: string): boolean {
  const prefix = env().TOKEN_PREFIX;
  const [, basic] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(value) ?? [];
  const text = basic === undefined ? value : Buffer.from(basic, "base64").toString("latin1");
  return text.includes(prefix);
}
