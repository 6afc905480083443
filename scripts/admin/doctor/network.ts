import { Resolver } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { counted } from "#core/counted.ts";
import { pool } from "#core/db.ts";
import { env } from "#core/env.ts";
import { countAlive, SILENT_AFTER_SECONDS } from "#core/operations/heartbeat.ts";
import { isThisMachine, originKind } from "#core/operations/set-up-steps.ts";
import { findUntrustedProxies } from "#core/operations/untrusted-proxy.ts";
import { type Finding, findings, reason } from "./finding.ts";

const TIMEOUT_MS = 3_000;
const ENTRY = "Write each entry as an IP address or a CIDR range, such as 10.0.0.5 or 10.0.5.0/24.";
const proxy = findings("proxy");

export function checkOrigin(): Finding[] {
  const origin = findings("origin");
  const { ORIGIN, TRUST_PROXY } = env();
  const kind = originKind();
  if (kind === "this_machine") return [origin.ok(`${ORIGIN}: for this machine only`), ...checkProxy(TRUST_PROXY)];
  if (kind === "http") {
    const advice =
      "Put a TLS proxy in front and set ORIGIN to its https URL: without it, passwords and tokens travel unencrypted.";
    return [origin.warn(`${ORIGIN} is not https`, advice), ...checkProxy(TRUST_PROXY)];
  }
  const missing = proxy.warn(
    "TRUST_PROXY is not set",
    "Set it to the IP address of the TLS proxy: until then, limits by IP address count everybody as one client.",
  );
  return [origin.ok(ORIGIN), ...(TRUST_PROXY.length === 0 ? [missing] : checkProxy(TRUST_PROXY))];
}

export async function checkSpaces(): Promise<Finding[]> {
  const { rows } = await pool().query<{ machines: number; hidden: number }>(
    `SELECT (SELECT count(DISTINCT host)::int FROM process_heartbeat WHERE seen_at > now() - make_interval(secs => $1)) AS machines,
            (SELECT count(*)::int FROM space_runtime WHERE address ~ '^http://(localhost|127[.]|\\[::1\\])') AS hidden`,
    [SILENT_AFTER_SECONDS],
  );
  const [{ machines, hidden }] = rows as [{ machines: number; hidden: number }];
  if (machines < 2 || hidden === 0) return [];
  const found = `${counted(hidden, "Space")} at an address that only the worker's machine can reach; the service runs on ${machines} machines`;
  return [
    findings("Spaces").warn(found, "Set SPACES_LISTEN and SPACES_ADDRESS for each worker that other machines have to reach."),
  ];
}

export async function checkForwarded(): Promise<Finding[]> {
  return (await findUntrustedProxies()).map(({ address, isNear }) =>
    isNear
      ? proxy.fail(
          `requests come through ${address}, which TRUST_PROXY does not name`,
          `Add ${address} to TRUST_PROXY if it is your proxy: until then, everybody behind it counts as one client, and one user's wrong ` +
            "passwords lock out all of them. If it is not, find out who sends X-Forwarded-For.",
        )
      : proxy.warn(
          `X-Forwarded-For came from ${address}, which TRUST_PROXY does not name`,
          "If that is your proxy or content delivery network (CDN), add its addresses to TRUST_PROXY. If not, a client made it up, and we ignored it.",
        ),
  );
}

function checkProxy(trusted: readonly string[]): Finding[] {
  const bad = trusted.find((entry) => !isRange(entry));
  if (bad) return [proxy.fail(`TRUST_PROXY contains ${bad}, which is not an address range`, ENTRY)];
  const everyone = trusted.find((entry) => entry.endsWith("/0"));
  if (everyone) {
    const advice =
      "Name only your proxy's own address. With this setting, anybody can claim any IP address with X-Forwarded-For.";
    return [proxy.fail(`TRUST_PROXY trusts everybody (${everyone})`, advice)];
  }
  return trusted.length > 0 ? [proxy.ok(`trusts ${trusted.join(", ")}`)] : [];
}

function isRange(entry: string): boolean {
  return entry.includes("/") ? ipaddr.isValidCIDR(entry) : ipaddr.isValid(entry);
}

export async function checkOutbound(): Promise<Finding[]> {
  return [await checkResolver(), checkAllowList(env().OUTBOUND_ALLOW_CIDRS)];
}

async function checkResolver(): Promise<Finding> {
  const names = findings("name resolution");
  const { hostname } = new URL(env().ORIGIN);
  // If the service has no host name of its own, the check uses `example.com`, which always exists (RFC 2606).
  const host = isThisMachine(hostname) || /^[\d.]+$|:/.test(hostname) ? "example.com" : hostname;
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  try {
    const addresses = await Promise.any([resolver.resolve4(host), resolver.resolve6(host)]);
    return names.ok(`${host} is ${addresses[0]}`);
  } catch (error) {
    const cause = error instanceof AggregateError ? error.errors[0] : error;
    const advice = "Check this machine's name servers: without them, the service cannot reach metadata documents or webhooks.";
    return names.warn(`${host} was not found (${reason(cause)})`, advice);
  }
}

function checkAllowList(ranges: readonly string[]): Finding {
  const outbound = findings("outbound");
  const bad = ranges.find((entry) => !isRange(entry));
  if (bad) {
    return outbound.fail(`OUTBOUND_ALLOW_CIDRS contains ${bad}, which is not an address range`, ENTRY);
  }
  const everything = ranges.find((entry) => entry.endsWith("/0"));
  if (everything) {
    const advice =
      "Allow only the ranges of your receivers. With this setting, anybody with a webhook can reach your internal services.";
    return outbound.fail(`OUTBOUND_ALLOW_CIDRS allows every address (${everything})`, advice);
  }
  const loopback = ranges.find((entry) => isThisMachine(entry.split("/")[0] ?? ""));
  if (loopback) {
    const advice = "Fine for a demonstration; remove it if strangers can create webhooks.";
    return outbound.warn(`OUTBOUND_ALLOW_CIDRS opens this machine itself (${loopback})`, advice);
  }
  return outbound.ok(ranges.length > 0 ? `public addresses, and ${ranges.join(", ")}` : "public addresses only");
}

export async function checkService(): Promise<Finding[]> {
  const service = findings("service");
  const address = `http://127.0.0.1:${env().PORT}/readyz`;
  try {
    const answer = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return [service.ok(`ready on port ${env().PORT}`)];
    const advice = "Read the service's log; if another program uses the port, set PORT.";
    return [service.fail(`${address} responds with status ${answer.status}`, advice)];
  } catch (error) {
    const cause = reason((error as Error).cause ?? error);
    if (cause.includes("ECONNREFUSED")) return [service.ok("not running")];
    return [service.fail(`${address}: ${cause}`, "Read the service's log and restart it.")];
  }
}

export async function checkWorker(): Promise<Finding[]> {
  const workers = findings("worker");
  const { web, worker } = await countAlive();
  if (worker > 0) return [workers.ok(worker === 1 ? "alive" : `${worker} alive`)];
  if (web === 0) return [workers.ok("not running")];
  return [
    workers.fail(
      "the web process runs without a worker: no e-mail is sent, no webhook is called and no job starts",
      "Read the service's log and restart it.",
    ),
  ];
}
