import ipaddr from "ipaddr.js";

/**
 * The unit by which attempts from an address are counted: an IPv4 address, or the /64 network of an IPv6 address, because a customer who
 * has one address of a /64 usually has all of it. Many get a /56, and a /48 on request. Undefined if the address is not known.
 */
export function addressKey(ip: string | null, prefix: 48 | 64 = 64): string | undefined {
  if (!ip || !ipaddr.isValid(ip)) return undefined;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, prefix / 16)
    .map((part) => part.toString(16))
    .join(":")}::/${prefix}`;
}
