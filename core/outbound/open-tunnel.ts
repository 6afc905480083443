import type { Socket } from "node:net";
import { Deadline } from "./deadline.ts";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";
import { openConnection } from "./open-connection.ts";
import { vettedAddresses } from "./open-exchange.ts";
import { parseTarget } from "./parse-target.ts";
import { OutboundFailure } from "./request.ts";
import { type ResolveHost, resolveHost } from "./resolve-host.ts";

const CONNECT_MS = 10_000;

type TunnelOptions = {
  allows?: AllowAddress;
  resolve?: ResolveHost;
  signal?: AbortSignal;
};

/**
 * The address is vetted as for every request (S117). The caller must close the connection.
 * @throws errors that `failureOf` turns into a reason
 */
export async function openTunnel(
  { host, port }: { host: string; port: number },
  { allows = isAllowedAddress, resolve = resolveHost, signal }: TunnelOptions = {},
): Promise<Socket> {
  const deadline = new Deadline(CONNECT_MS, CONNECT_MS);
  const leave = () => deadline.end(OutboundFailure.unreachable("nobody is waiting for the connection anymore"));
  signal?.addEventListener("abort", leave);
  try {
    if (signal?.aborted) leave();
    const target = parseTarget({ url: `http://${host}:${port}/` });
    deadline.enter("no name server responded in time");
    const addresses = await vettedAddresses(target, resolve, deadline.signal, allows, "debug");
    deadline.enter("the connection timed out");
    return await openConnection(target, addresses, deadline.signal, allows);
  } finally {
    signal?.removeEventListener("abort", leave);
    deadline.clear();
  }
}
