import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { db } from "../db.ts";
import { askedOnBehalfOf, isTrustedAddress, plainAddress } from "../http/client-address.ts";
import { log } from "../log.ts";

/**
 * A proxy that TRUST_PROXY does not name makes everybody one client: one person's wrong passwords then throttle all. Nobody notices before it
 * happens, so requests that a proxy has forwarded are noted, and the log, the operator's overview and `admin doctor` say so.
 */
export type UntrustedProxy = {
  address: string;
  /** On this machine or in its own networks, where proxies are. From anywhere else it may as well be a client that lies. */
  isNear: boolean;
  seenAt: Date;
};

const NOTED_EVERY_MS = 10 * 60_000;
const SEEN_WITHIN_MS = 24 * 60 * 60_000;
const keyOf = (isNear: boolean): string => `untrusted_proxy_${isNear ? "near" : "far"}`;

const quietUntil = { near: 0, far: 0 };

/** For the outermost door, before it drops what the request says of its way. It costs nothing where no such header came. */
export function noteUntrustedProxy(req: IncomingMessage, now = Date.now()): void {
  const { headers, socket } = req;
  if ((headers["x-forwarded-for"] === undefined && headers.forwarded === undefined) || askedOnBehalfOf(req) !== undefined) return;
  const address = plainAddress(socket.remoteAddress);
  if (address === null || isTrustedAddress(address)) return;
  const isNear = ipaddr.process(address).range() !== "unicast";
  const kind = isNear ? "near" : "far";
  if (now < quietUntil[kind]) return;
  quietUntil[kind] = now + NOTED_EVERY_MS;
  log().warn(
    { proxy: address },
    "X-Forwarded-For came from an address that TRUST_PROXY does not name: all its clients count as one",
  );
  const change = { value: { address }, updatedAt: new Date(now) };
  db()
    .setting.upsert({ where: { key: keyOf(isNear) }, create: { key: keyOf(isNear), ...change }, update: change })
    .catch((error: unknown) => log().debug({ err: error }, "an untrusted proxy could not be noted"));
}

/** Those that forwarded something within a day and that TRUST_PROXY, as it is set now, does not name; the near one first. */
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
