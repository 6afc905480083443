import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { unlessAborted } from "./deadline.ts";
import { isAllowedAddress } from "./is-allowed-address.ts";
import { OutboundFailure } from "./request.ts";

const HOSTS_FILE = "/etc/hosts";
const QUESTION_TIMEOUT_MS = 1_500;
const TRIES = 3;

export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>;

type FoundAddresses = { addresses: string[]; seconds: number };

/** Addresses that did not come from a name server are reused for this long. */
const LOCAL_SECONDS = 5;

/**
 * `dns.lookup` would occupy one of the four worker threads that also read files.
 * @param servers `address:port` of the name servers to use instead of the machine's
 */
export async function resolveHost(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  return (await findAddresses(host, signal, servers)).addresses;
}

async function findAddresses(host: string, signal: AbortSignal, servers?: string[]): Promise<FoundAddresses> {
  if (isIP(host)) return { addresses: [host], seconds: LOCAL_SECONDS };
  if (host === "localhost" || host.endsWith(".localhost")) return { addresses: loopback(), seconds: 0 };
  const kept = await addressesInHostsFile(host);
  if (kept.length > 0) return { addresses: kept, seconds: LOCAL_SECONDS };

  // A signal that was aborted before would not trigger the listener below.
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: QUESTION_TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host, { ttl: true }), resolver.resolve6(host, { ttl: true })]);
    signal.throwIfAborted();
    const records = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (records.length > 0) {
      return { addresses: records.map(({ address }) => address), seconds: Math.min(...records.map(({ ttl }) => ttl)) };
    }
    const codes = answers.map((answer) => (answer.status === "rejected" ? answer.reason?.code : undefined));
    if (codes.includes("ETIMEOUT")) throw OutboundFailure.timedOut("no name server responded in time");
    if (codes.some((code) => code === "ESERVFAIL" || code === "EREFUSED" || code === "ECONNREFUSED"))
      throw OutboundFailure.unreachable("the name servers could not resolve the name");
    throw OutboundFailure.unreachable("the name does not resolve");
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** RFC 6761 §6.3: `localhost` is loopback. Both addresses are returned, because an operator may have allowed only one. */
function loopback(): string[] {
  const both = ["127.0.0.1", "::1"];
  const allowed = both.filter(isAllowedAddress);
  return allowed.length > 0 ? allowed : both;
}

async function addressesInHostsFile(host: string): Promise<string[]> {
  const text = await readFile(HOSTS_FILE, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return isIP(address) && names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });
}

/** Addresses are not reused for longer, even if the name server's TTL is longer. */
const REMEMBERED_MAX_MS = 5_000;
const NAMES_MAX = 1_000;
const LOOKUP_MS = 5_000;

type Remembered = { until: number; found: Promise<FoundAddresses> };
const remembered = new Map<string, Remembered>();

/** The caller must vet reused addresses too (S117). */
export async function rememberAddresses(
  host: string,
  signal: AbortSignal,
  find: typeof findAddresses = findAddresses,
): Promise<string[]> {
  let entry = remembered.get(host);
  if (!entry || entry.until <= performance.now()) {
    entry = lookUp(host, find);
    remembered.delete(host);
    remembered.set(host, entry);
    const [first] = remembered.keys();
    if (remembered.size > NAMES_MAX && first !== undefined) remembered.delete(first);
  }
  return (await unlessAborted(entry.found, signal)).addresses;
}

function lookUp(host: string, find: typeof findAddresses): Remembered {
  const clock = new AbortController();
  // All waiting requests get this error, so its reason must be fit for users.
  const timer = setTimeout(() => clock.abort(OutboundFailure.timedOut("no name server responded in time")), LOOKUP_MS);
  const entry: Remembered = { until: performance.now() + LOOKUP_MS, found: find(host, clock.signal) };
  entry.found.then(
    ({ seconds }) => {
      clearTimeout(timer);
      entry.until = performance.now() + Math.min(seconds * 1_000, REMEMBERED_MAX_MS);
    },
    () => {
      clearTimeout(timer);
      entry.until = 0;
    },
  );
  return entry;
}
