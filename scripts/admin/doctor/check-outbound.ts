import { Resolver } from "node:dns/promises";
import { env } from "#core/env.ts";
import { isRange, isThisMachine } from "./check-origin.ts";
import { type Finding, findings, reason } from "./finding.ts";

const names = findings("name resolution");
const allowed = findings("outbound");
const TIMEOUT_MS = 3_000;

/** Whether we can find the hosts that others name to us, and which addresses of ours they may reach. */
export async function checkOutbound(): Promise<Finding[]> {
  return [await checkResolver(), checkAllowList(env().OUTBOUND_ALLOW_CIDRS)];
}

async function checkResolver(): Promise<Finding> {
  const { hostname } = new URL(env().ORIGIN);
  // Our own name when we have one; else a name that is reserved for examples and exists (RFC 2606).
  const host = isThisMachine(hostname) || /^[\d.]+$|:/.test(hostname) ? "example.com" : hostname;
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  try {
    const addresses = await Promise.any([resolver.resolve4(host), resolver.resolve6(host)]);
    return names.ok(`${host} is ${addresses[0]}`);
  } catch (error) {
    const cause = error instanceof AggregateError ? error.errors[0] : error;
    const advice =
      "Check the name servers of this machine: without them no app's metadata document and no webhook can be reached.";
    return names.warn(`${host} was not found (${reason(cause)})`, advice);
  }
}

function checkAllowList(ranges: readonly string[]): Finding {
  const bad = ranges.find((entry) => !isRange(entry));
  if (bad) {
    return allowed.fail(`OUTBOUND_ALLOW_CIDRS has ${bad}, which is no address range`, "Correct it, for example to 10.0.0.0/8.");
  }
  const everything = ranges.find((entry) => entry.endsWith("/0"));
  if (everything) {
    const advice =
      "Allow only the ranges your receivers live in: as it is, whoever makes a webhook can reach your internal services.";
    return allowed.fail(`OUTBOUND_ALLOW_CIDRS allows every address (${everything})`, advice);
  }
  const loopback = ranges.find((entry) => isThisMachine(entry.split("/")[0] ?? ""));
  if (loopback) {
    const advice = "Fine for a demonstration; take it out where strangers can make webhooks.";
    return allowed.warn(`OUTBOUND_ALLOW_CIDRS opens this machine itself (${loopback})`, advice);
  }
  return allowed.ok(ranges.length > 0 ? `public addresses, and ${ranges.join(", ")}` : "public addresses only");
}
