import { Deadline } from "./deadline.ts";
import { failureOf } from "./failure-of.ts";
import { allowedRange, forbiddenRange, isAllowedAddress } from "./is-allowed-address.ts";
import { parseTarget } from "./parse-target.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";

/** An address of a host, and why requests may or may not go to it. */
export type ExaminedAddress = {
  address: string;
  isAllowed: boolean;
  /** The range that decides: the operator's that allows it, or the forbidden one; null if it is simply public. */
  range: string | null;
};

export type Examined =
  /** The host was not looked up, or could not be. */
  | { outcome: "refused"; reason: string }
  | { outcome: "resolved"; host: string; port: number; isAllowed: boolean; addresses: ExaminedAddress[] };

const LOOKUP_MS = 5_000;

/** Says how a request to a URL would be judged before any connection is made, for operators who want to know why one is refused. */
export async function examineAddress(url: string, resolve: ResolveHost = resolveHost): Promise<Examined> {
  const deadline = new Deadline(LOOKUP_MS, LOOKUP_MS);
  deadline.enter("no name server answered in time");
  try {
    const { host, port } = parseTarget({ url });
    const addresses = (await resolve(host, deadline.signal)).map((address) => ({
      address,
      isAllowed: isAllowedAddress(address),
      range: allowedRange(address) ?? forbiddenRange(address) ?? null,
    }));
    return { outcome: "resolved", host, port, isAllowed: addresses.every(({ isAllowed }) => isAllowed), addresses };
  } catch (error) {
    return { outcome: "refused", reason: failureOf(deadline.signal.aborted ? deadline.signal.reason : error).result.reason };
  } finally {
    deadline.clear();
  }
}
