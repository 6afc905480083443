import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { db } from "../db.ts";
import { isTrustedAddress, plainAddress, sentOnBehalfOf } from "../http/client-address.ts";
import { log } from "../log.ts";

/** Behind a proxy that is not in TRUST_PROXY, all users count as one client, so one user's wrong passwords throttle all. */
export type UntrustedProxy = {
  address: string;
  /** On this machine or in a private network. Any other address may belong to a client that sends a false header. */
  isNear: boolean;
  seenAt: Date;
};

const NOTED_EVERY_MS = 10 * 60_000;
const SEEN_WITHIN_MS = 24 * 60 * 60_000;
const keyOf = (isNear: boolean): string => `untrusted_proxy_${isNear ? "near" : "far"}`;

const quietUntil = { near: 0, far: 0 };

/** Call this before the forwarding headers are removed. */
export function recordUntrustedProxy(req: IncomingMessage, now = Date.now()): void {
  const { headers, socket } = req;
  if ((headers["x-forwarded-for"] === undefined && headers.forwarded === undefined) || sentOnBehalfOf(req) !== undefined) return;
  const address = plainAddress(socket.remoteAddress);
  if (address === null || isTrustedAddress(address)) return;
  const isNear = ipaddr.process(address).range() !== "unicast";
  const kind = isNear ? "near" : "far";
  if (now < quietUntil[kind]) return;
  quietUntil[kind] = now + NOTED_EVERY_MS;
  log().warn({ proxy: address }, "X-Forwarded-For came from an address that is not in TRUST_PROXY: all its clients count as one");
  const change = { value: { address }, updatedAt: new Date(now) };
  db()
    .setting.upsert({ where: { key: keyOf(isNear) }, create: { key: keyOf(isNear), ...change }, update: change })
    .catch((error: unknown) => log().debug({ err: error }, "an untrusted proxy could not be noted"));
}

export async function findUntrustedProxies(now = new Date()): Promise<UntrustedProxy[]> {
  const rows = await db().setting.findMany({
    where: { key: { in: [keyOf(true), keyOf(false)] }, updatedAt: { gt: new Date(now.getTime() - SEEN_WITHIN_MS) } },
    orderBy: { key: "desc" },
  });
  return rows
    .map(({ key, value, updatedAt }) => ({
      address: String((value as { address?: unknown }).address),
      isNear: key === keyOf(true),
      seenAt: updatedAt,
    }))
    .filter(({ address }) => !isTrustedAddress(address));
}
