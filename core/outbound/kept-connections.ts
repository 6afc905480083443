import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import type { Client } from "undici";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";

export type Connection = { client: Client; socket: Socket };

type Kept = Connection & { origin: string; address: string; leave(): void; hear(): void };

const KEPT_MAX = 256;

const byOrigin = new Map<string, Kept[]>();
const oldestFirst = new Set<Kept>();

/** The addresses were vetted for the current request, so the connection is as safe as a new one (S117). */
export function takeConnection(
  origin: string,
  addresses: string[],
  allows: AllowAddress = isAllowedAddress,
): Connection | undefined {
  const vetted = new Set(addresses.map(spelled));
  // The most recently used connection is taken, so that older ones stay idle and can be closed.
  const kept = byOrigin
    .get(origin)
    ?.findLast(({ address, socket }) => vetted.has(address) && allows(address) && isUsable(socket));
  if (kept) forget(kept);
  return kept;
}

/** Call this when the last response was read to its end. */
export function keepConnection(origin: string, { client, socket }: Connection): void {
  const peer = socket.remoteAddress;
  if (!peer || !isUsable(socket)) return void client.destroy().catch(() => undefined);
  const { bytesRead } = socket;
  const kept: Kept = {
    ...{ client, socket, origin, address: spelled(peer) },
    leave: () => forget(kept),
    hear: () => void (socket.bytesRead > bytesRead && close(kept)),
  };
  byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), kept]);
  oldestFirst.add(kept);
  client.on("disconnect", kept.leave);
  // The parser would skip any number of empty lines, which no limit of a response counts (S137).
  socket.on("readable", kept.hear);
  const [oldest] = oldestFirst;
  if (oldestFirst.size > KEPT_MAX && oldest) close(oldest);
}

/** If one connection was closed by the other side, the others may be closed too. */
export function dropConnections(origin: string): void {
  for (const kept of byOrigin.get(origin) ?? []) close(kept);
}

export function closeKeptConnections(): void {
  for (const kept of [...oldestFirst]) close(kept);
}

function close(kept: Kept): void {
  forget(kept);
  kept.client.destroy().catch(() => undefined);
}

function forget(kept: Kept): void {
  if (!oldestFirst.delete(kept)) return;
  kept.client.off("disconnect", kept.leave);
  kept.socket.off("readable", kept.hear);
  const others = byOrigin.get(kept.origin)?.filter((each) => each !== kept) ?? [];
  if (others.length > 0) byOrigin.set(kept.origin, others);
  else byOrigin.delete(kept.origin);
}

const isUsable = (socket: Socket): boolean => socket.writable && socket.readable && !socket.destroyed;

const spelled = (address: string): string => ipaddr.process(address).toString();
