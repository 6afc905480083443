import ipaddr from "ipaddr.js";

/** Usually one customer has a whole /64. Many have a /56, and a /48 on request. */
export function addressKey(ip: string | null, prefix: 48 | 64 = 64): string | undefined {
  if (!ip || !ipaddr.isValid(ip)) return undefined;
  const address = ipaddr.process(ip);
  if (address.kind() === "ipv4") return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, prefix / 16)
    .map((part) => part.toString(16))
    .join(":")}::/${prefix}`;
}
