import ipaddr from "ipaddr.js";

/**
 * What counts as one address when attempts are counted: an IPv4 address, or the /64 network of an IPv6 address, since whoever
 * has one address of a /64 usually has all of them. Undefined when the address is not known.
 */
export function addressKey(ip: string | null): string | undefined {
  if (!ip || !ipaddr.isValid(ip)) return undefined;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
