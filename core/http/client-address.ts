import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { isSigned, sign } from "../crypto/seal.ts";
import { env } from "../env.ts";

/**
 * The verified address of a request's client, set by `canonicalize` (server/canonicalize.ts), which removes a header of this name from
 * outside.
 */
export const CLIENT_ADDRESS_HEADER = "x-keyhook-client-address";

/**
 * Next itself sends requests to this service, with the original headers: for the page to which an action redirects, and for an action of
 * another page. With this header, which only Next gets, such a request counts for the original client's address instead of ours.
 */
export const ON_BEHALF_HEADER = "x-keyhook-on-behalf-of";

export const signedOnBehalfOf = (address: string): string => `${address} ${sign(NEXT, address)}`;
const NEXT = "requests of Next";

/** The address of the client for which Next sends this request; undefined if Next did not send it. */
export function sentOnBehalfOf({ headers }: IncomingMessage): string | undefined {
  const given = headers[ON_BEHALF_HEADER];
  if (typeof given !== "string") return undefined;
  const [address = "", signature = "", ...more] = given.split(" ");
  return more.length === 0 && isSigned(NEXT, address, signature) ? address : undefined;
}

let trusted: { from: readonly string[]; list: BlockList } | undefined;

function trustedProxies(): BlockList {
  const { TRUST_PROXY } = env();
  if (trusted?.from === TRUST_PROXY) return trusted.list;
  const list = new BlockList();
  for (const entry of TRUST_PROXY) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    list.addSubnet(address, prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix), family);
  }
  trusted = { from: TRUST_PROXY, list };
  return list;
}

/** Whether the other end of the connection is a proxy named in TRUST_PROXY. */
export function isFromTrustedProxy(req: IncomingMessage): boolean {
  return isTrustedAddress(plainAddress(req.socket.remoteAddress));
}

/**
 * The address used by throttles and logs (S110): the other end of the connection or, if that is a trusted proxy, the address that the proxy
 * names. `X-Forwarded-For` is read from the right, since clients can forge its left part. Null if the connection is already gone.
 */
export function clientAddress(req: IncomingMessage): string | null {
  const asked = sentOnBehalfOf(req);
  if (asked !== undefined) return asked;
  let address = plainAddress(req.socket.remoteAddress);
  const hops = String(req.headers["x-forwarded-for"] ?? "").split(",");
  while (isTrustedAddress(address) && hops.length > 0) {
    const hop = plainAddress(hops.pop());
    if (hop === null) break;
    address = hop;
  }
  return address;
}

/** Whether TRUST_PROXY includes it. @param address without port or brackets */
export function isTrustedAddress(address: string | null): boolean {
  return address !== null && trustedProxies().check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** An address without port and brackets, and an IPv4 address in IPv4 form; null if it is invalid. */
export function plainAddress(text: string | undefined): string | null {
  let address = text?.trim() ?? "";
  address = address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  address = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) ? address : null;
}
