import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { isSigned, sign } from "../crypto/seal.ts";
import { env } from "../env.ts";

/** server/canonicalize.ts removes a header with this name from outside. */
export const CLIENT_ADDRESS_HEADER = "x-keyhook-client-address";

/** Next requests pages from this service itself. Such a request counts for the original client's address. */
export const ON_BEHALF_HEADER = "x-keyhook-on-behalf-of";

export function signedOnBehalfOf(address: string | null): string {
  const text = `${address ?? UNKNOWN} ${Math.floor(Date.now() / 1000)}`;
  return `${text} ${sign(NEXT, text)}`;
}
const NEXT = "requests of Next";
const UNKNOWN = "unknown";
/** An action of Next takes less, and a leaked signature must soon be worthless. */
const ON_BEHALF_SECONDS = 600;

/** A request with an old signature still has the limits of Next's requests, but does not count for the address. */
export function sentOnBehalfOf({ headers }: IncomingMessage): { address: string; isOld: boolean } | undefined {
  const [address = "", seconds = "", signature = "", ...more] = String(headers[ON_BEHALF_HEADER] ?? "").split(" ");
  if (more.length > 0 || !isSigned(NEXT, `${address} ${seconds}`, signature)) return undefined;
  return { address, isOld: Math.abs(Date.now() / 1000 - Number(seconds)) > ON_BEHALF_SECONDS };
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

export function isFromTrustedProxy(req: IncomingMessage): boolean {
  return isTrustedAddress(plainAddress(req.socket.remoteAddress));
}

/**
 * S110: clients can forge the left part of `X-Forwarded-For`.
 * @returns null if the connection is already gone
 */
export function clientAddress(req: IncomingMessage): string | null {
  const asked = sentOnBehalfOf(req);
  if (asked && !asked.isOld) return asked.address === UNKNOWN ? null : asked.address;
  let address = plainAddress(req.socket.remoteAddress);
  const hops = String(req.headers["x-forwarded-for"] ?? "").split(",");
  while (isTrustedAddress(address) && hops.length > 0) {
    const hop = plainAddress(hops.pop());
    if (hop === null) break;
    address = hop;
  }
  return address;
}

/** @param address without port or brackets */
export function isTrustedAddress(address: string | null): boolean {
  return address !== null && trustedProxies().check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

export function plainAddress(text: string | undefined): string | null {
  let address = text?.trim() ?? "";
  address = address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  address = address.replace(/^::ffff:(?=\d+\.)/i, "");
  return isIP(address) ? address : null;
}
