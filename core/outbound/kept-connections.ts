import type { Socket } from "node:net";
import ipaddr from "ipaddr.js";
import type { Client } from "undici";
import { type AllowAddress, isAllowedAddress } from "./is-allowed-address.ts";

/** An open connection with the HTTP client on it, which never makes another in its place. */
export type Connection = { client: Client; socket: Socket };

type Kept = Connection & { origin: string; address: string; leave(): void };

/** Idle connections of this process; the one that has been idle for the longest is closed for a new one. */
const KEPT_MAX = 256;

const byOrigin = new Map<string, Kept[]>();
const oldestFirst = new Set<Kept>();

/**
 * A connection that was kept after an earlier request, to one of the addresses that were vetted for this one: as safe as a new one
 * (S117). An address that the name has no more, or that may not be reached any more, is not reached over an old connection either.
 */
export function takeConnection(
  origin: string,
  addresses: string[],
  allows: AllowAddress = isAllowedAddress,
): Connection | undefined {
  const vetted = new Set(addresses.map(spelled));
  // The one that was used last: the others can go to sleep.
  const kept = byOrigin
    .get(origin)
    ?.findLast(({ address, socket }) => vetted.has(address) && allows(address) && isUsable(socket));
  if (kept) forget(kept);
  return kept;
}

/** Keeps a connection after an exchange that was read to its end; closes it when it cannot be used again. */
export function keepConnection(origin: string, { client, socket }: Connection): void {
  const peer = socket.remoteAddress;
  if (!peer || !isUsable(socket)) return void client.destroy().catch(() => undefined);
  const kept: Kept = { client, socket, origin, address: spelled(peer), leave: () => forget(kept) };
  byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), kept]);
  oldestFirst.add(kept);
  // The other side, or the client once it has been idle for as long as the other side allows.
  client.on("disconnect", kept.leave);
  const [oldest] = oldestFirst;
  if (oldestFirst.size > KEPT_MAX && oldest) close(oldest);
}

/** One to this origin turned out to be closed: the others, as old, may be as well. */
export function dropConnections(origin: string): void {
  for (const kept of byOrigin.get(origin) ?? []) close(kept);
}

/** Closes what is idle, so that a process can end at once. */
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
  const others = byOrigin.get(kept.origin)?.filter((each) => each !== kept) ?? [];
  if (others.length > 0) byOrigin.set(kept.origin, others);
  else byOrigin.delete(kept.origin);
}

const isUsable = (socket: Socket): boolean => socket.writable && socket.readable && !socket.destroyed;

const spelled = (address: string): string => ipaddr.process(address).toString();
