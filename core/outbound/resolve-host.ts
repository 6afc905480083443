import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { isAllowedAddress } from "./is-allowed-address.ts";
import { OutboundFailure } from "./request.ts";

const HOSTS_FILE = "/etc/hosts";
/** Per question and server; if a datagram is lost, the question is repeated within the time for connecting. */
const QUESTION_TIMEOUT_MS = 1_500;
const TRIES = 3;

/** Every address of a host, in the order in which they are tried. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>;

/** The same, with the number of seconds for which it may be reused. */
export type FoundAddresses = { addresses: string[]; seconds: number };

/** For answers that did not come from a name server. */
const LOCAL_SECONDS = 5;

/**
 * Resolves by the hosts file, then by DNS, both families at once. Not by `dns.lookup`: it waits for a slow name server on one
 * of the process's four worker threads, so that four of an attacker's names would block file access and password checks.
 * @param servers `address:port` of name servers instead of the machine's.
 */
export async function resolveHost(host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  return (await findAddresses(host, signal, servers)).addresses;
}

export async function findAddresses(host: string, signal: AbortSignal, servers?: string[]): Promise<FoundAddresses> {
  if (isIP(host)) return { addresses: [host], seconds: LOCAL_SECONDS };
  if (host === "localhost" || host.endsWith(".localhost")) return { addresses: loopback(), seconds: 0 };
  const kept = await addressesInHostsFile(host);
  if (kept.length > 0) return { addresses: kept, seconds: LOCAL_SECONDS };

  // An earlier abort would not trigger the listener below.
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
    if (codes.includes("ETIMEOUT")) throw OutboundFailure.timedOut("no name server answered in time");
    if (codes.some((code) => code === "ESERVFAIL" || code === "EREFUSED" || code === "ECONNREFUSED"))
      throw OutboundFailure.unreachable("the name servers could not answer for this name");
    throw OutboundFailure.unreachable("the name does not resolve");
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** RFC 6761 §6.3: such a name never goes to a name server. An operator may have allowed only one of the two addresses. */
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
