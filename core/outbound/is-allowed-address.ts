import { isIP } from "node:net";
import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";
import { env } from "../env.ts";

const { parse, parseCIDR } = ipaddr;

type Range = [IPv4 | IPv6, number];

/** The service may never connect to these addresses, even if a name resolves to them (S118). */
export const FORBIDDEN_IPV4: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10", // carrier-grade NAT; some clouds have their metadata service here
  "127.0.0.0/8",
  "168.63.129.16/32", // a cloud's wire server, on a public address
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4", // including 255.255.255.255
];
const forbidden4 = FORBIDDEN_IPV4.map((range) => parseCIDR(range));

/** No public address is outside this range, but overlay networks use other ranges. */
const globalUnicast = parseCIDR("2000::/3");
const forbidden6 = [
  "2001::/23", // Teredo, ORCHID, benchmarking and the other protocol assignments
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
].map((range) => parseCIDR(range));

/** In these forms, only the embedded IPv4 address must be allowed. In all other forms, both addresses must be. */
const transparent = ["::ffff:0:0/96", "64:ff9b::/96"].map((range) => parseCIDR(range));

/** Leaves out link-local addresses, at which clouds serve a machine's secrets. */
const ownNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "100.64.0.0/10", "::1/128", "fc00::/7"].map(
  (range) => parseCIDR(range),
);
const metadataServices = ["100.100.100.200/32", "fd00:ec2::254/128"].map((range) => parseCIDR(range));

export type AllowAddress = (address: string) => boolean;

let operators: { from: readonly string[]; ranges: Range[] } | undefined;

/** The ranges of OUTBOUND_ALLOW_CIDRS (S119). */
function allowedByOperator(): Range[] {
  const { OUTBOUND_ALLOW_CIDRS } = env();
  if (operators?.from !== OUTBOUND_ALLOW_CIDRS) {
    const ranges = OUTBOUND_ALLOW_CIDRS.map((entry): Range => {
      const [address = "", bits] = entry.split("/");
      const first = parse(address);
      return [first, bits === undefined ? first.toByteArray().length * 8 : Number(bits)];
    });
    operators = { from: OUTBOUND_ALLOW_CIDRS, ranges };
  }
  return operators.ranges;
}

/**
 * See S118.
 * @param address as DNS and sockets return it. Any other text is not allowed.
 */
export function isAllowedAddress(address: string): boolean {
  const plain = address.replace(/%.*$/s, "");
  if (isIP(plain) === 0) return false;
  const parsed = parse(isIP(plain) === 6 ? inHex(plain) : plain);
  if (isInSome(parsed, allowedByOperator())) return true;
  if (parsed instanceof ipaddr.IPv4) return !isInSome(parsed, forbidden4);
  const inside = embeddedAddresses(parsed);
  const isPublic = isInSome(parsed, transparent) || (isInSome(parsed, [globalUnicast]) && !isInSome(parsed, forbidden6));
  return isPublic && inside.every((embedded) => isAllowedAddress(embedded.toString()));
}

/** Only for addresses that an operator chose, never for addresses of users. */
export function isAllowedOrOwnAddress(address: string): boolean {
  if (isAllowedAddress(address)) return true;
  if (isIP(address) === 0) return false;
  const plain = ipaddr.process(address);
  return isInSome(plain, ownNetworks) && !isInSome(plain, metadataServices);
}

export function allowedRange(address: string): string | undefined {
  return rangeWith(address, allowedByOperator());
}

/** Does not consider OUTBOUND_ALLOW_CIDRS. */
export function forbiddenRange(address: string): string | undefined {
  const range = rangeWith(address, [...forbidden4, ...forbidden6]);
  if (range || isIP(address) !== 6) return range;
  const parsed = parse(inHex(address)) as IPv6;
  const [inside] = embeddedAddresses(parsed).flatMap((embedded) => forbiddenRange(embedded.toString()) ?? []);
  return inside ?? (isInSome(parsed, [...transparent, globalUnicast]) ? undefined : "outside 2000::/3");
}

function rangeWith(address: string, ranges: Range[]): string | undefined {
  if (isIP(address) === 0) return undefined;
  const parsed = parse(isIP(address) === 6 ? inHex(address) : address);
  const range = ranges.find((each) => isInSome(parsed, [each]));
  return range && `${range[0]}/${range[1]}`;
}

/** ipaddr.js parses `::1.2.3.4` as `::ffff:1.2.3.4`, but the equal `::102:304` correctly. */
function inHex(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

function isInSome(address: IPv4 | IPv6, ranges: Range[]): boolean {
  return ranges.some(([first, bits]) => first.kind() === address.kind() && address.match(first, bits));
}

function embeddedAddresses(address: IPv6): IPv4[] {
  const words = address.parts as [number, number, number, number, number, number, number, number];
  const at = (index: 1 | 2 | 6, mask = 0) => ipv4(words[index] ^ mask, (words[index + 1] ?? 0) ^ mask);
  const leads = (range: string) => address.match(parseCIDR(range) as [IPv6, number]);
  // Mapped, compatible and translated addresses (RFC 2765), and NAT64 with the well-known prefix (RFC 6052).
  if (["::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96"].some(leads)) return [at(6)];
  // 6to4 (RFC 3056).
  if (leads("2002::/16")) return [at(1)];
  // Teredo (RFC 4380) embeds its server, and the client with every bit inverted.
  if (leads("2001::/32")) return [at(2), at(6, 0xffff)];
  // ISATAP (RFC 5214), under any prefix. The universal and group bits may be set.
  if ((words[4] & 0xfcff) === 0 && words[5] === 0x5efe) return [at(6)];
  return [];
}

function ipv4(high: number, low: number): IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
