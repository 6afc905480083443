import ipaddr from "ipaddr.js";
import { env } from "#core/env.ts";
import { findUntrustedProxies } from "#core/operations/untrusted-proxy.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("origin");
const proxy = findings("proxy");

/** The address that people and apps know: everything that we sign or redirect to carries it. */
export function checkOrigin(): Finding[] {
  const { ORIGIN, TRUST_PROXY } = env();
  const url = new URL(ORIGIN);
  if (isThisMachine(url.hostname)) return [report.ok(`${ORIGIN}: for this machine only`), ...checkProxy(TRUST_PROXY)];
  if (url.protocol === "http:") {
    const advice =
      "Put a TLS proxy in front and set ORIGIN to its https address: without it, passwords and tokens travel in the clear.";
    return [report.warn(`${ORIGIN} is not https`, advice), ...checkProxy(TRUST_PROXY)];
  }
  const missing = proxy.warn(
    "TRUST_PROXY is not set",
    "Set it to the address of the proxy that ends TLS: until then, limits by address count everybody as that proxy.",
  );
  return [report.ok(ORIGIN), ...(TRUST_PROXY.length === 0 ? [missing] : checkProxy(TRUST_PROXY))];
}

/** What came through a proxy that nobody has named, as the running service noted it. */
export async function checkForwarded(): Promise<Finding[]> {
  return (await findUntrustedProxies()).map(({ address, isNear }) =>
    isNear
      ? proxy.fail(
          `requests come through ${address}, which TRUST_PROXY does not name`,
          `Add ${address} to TRUST_PROXY, if it is your proxy: until then everybody behind it counts as one client, whom one person's wrong ` +
            "passwords lock out. If it is none, look who sends X-Forwarded-For.",
        )
      : proxy.warn(
          `X-Forwarded-For came from ${address}, which TRUST_PROXY does not name`,
          `If that is your proxy or content network, add its addresses to TRUST_PROXY. If not, a client made it up, and it was not believed.`,
        ),
  );
}

function checkProxy(trusted: readonly string[]): Finding[] {
  const bad = trusted.find((entry) => !isRange(entry));
  if (bad) return [proxy.fail(`TRUST_PROXY has ${bad}, which is no address range`, "Correct it, for example to 10.0.0.0/8.")];
  const everyone = trusted.find((entry) => entry.endsWith("/0"));
  if (everyone) {
    const advice = "Name your proxy's own address: as it is, anybody can pretend to come from anywhere with X-Forwarded-For.";
    return [proxy.fail(`TRUST_PROXY trusts everybody (${everyone})`, advice)];
  }
  return trusted.length > 0 ? [proxy.ok(`trusts ${trusted.join(", ")}`)] : [];
}

/** Whether an entry of an address list is an address, or one with a prefix length that fits it. */
export function isRange(entry: string): boolean {
  return entry.includes("/") ? ipaddr.isValidCIDR(entry) : ipaddr.isValid(entry);
}

export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}
