import type { EventPayload, EventScope } from "@keyhook/sdk";
import { db, pool } from "../../db.ts";
import { newId, newOrderedId } from "../../ids.ts";
import type { Done } from "../delivery/delivery.ts";
import { recordDeliveries } from "../delivery/record-deliveries.ts";
import { type LeasedEvents, leaseEvents, type Part, parts } from "../fan-out/lease-events.ts";

export type Owner = { kind: "user" | "organization"; id: string };

type NewWebhook = { domains?: string[]; events?: string[]; isDisabled?: boolean; url?: string };

export async function watchingWebhook(owner: Owner, watched: string[], options: NewWebhook = {}): Promise<string> {
  const id = newId();
  await db().webhook.create({
    data: {
      id,
      ownerId: owner.id,
      ownerKind: owner.kind,
      url: options.url ?? `https://${id}.example.test/`,
      domains: options.domains ?? ["repo", "discussion"],
      events: options.events ?? [],
      disabledAt: options.isDisabled ? new Date() : null,
      watched: { create: watched.map((watchedId) => ({ type: "model", watchedId })) },
    },
  });
  return id;
}

export type SomeRepo = { id: string; ownerId: string; isPrivate?: boolean };

type Happened = {
  scope?: EventScope;
  movedTo?: { name: string; owner: { id: string } };
  actorId?: string | null;
  source?: string;
  updatedRefs?: string[];
};

export async function someEvent(
  { id: repoId, ownerId, isPrivate = false }: SomeRepo,
  { scope = "repo.content", movedTo, actorId = null, source, updatedRefs }: Happened = {},
): Promise<string> {
  const id = newOrderedId();
  const url = { web: "https://hub.example.com/ada/tides", api: "https://hub.example.com/api/models/ada/tides" };
  const action = movedTo ? "move" : "update";
  const payload = {
    event: { scope, action },
    repo: { type: "model", name: "ada/tides", id: repoId, private: isPrivate, url, owner: { id: ownerId }, tags: [] },
    ...(movedTo && { movedTo }),
    ...(updatedRefs && { updatedRefs: updatedRefs.map((ref) => ({ ref, oldSha: null, newSha: "a".repeat(40) })) }),
  } as EventPayload;
  const from = source === undefined ? {} : { source, sourceId: id };
  await db().event.create({
    data: { id, scope, action, repoId, repoType: "model", ownerId, isPrivate, payload, actorId, ...from },
  });
  return id;
}

export type FannedOut = {
  events: number;
  deliveries: number;
};

export async function fanOut(part: Part): Promise<FannedOut> {
  const leased = await leaseEvents(part);
  await putIntoQueue(leased);
  const finished = leased.leases.filter(({ cursor }) => cursor === null);
  return { events: finished.length, deliveries: leased.deliveries.length };
}

export function putIntoQueue({ leases, deliveries, over }: LeasedEvents): Promise<void> {
  const steps = deliveries.map((delivery): Done => {
    const limit = over.get(delivery);
    return { delivery, step: limit ? { step: "rate_limited", over: limit } : { step: "postponed", seconds: 0 } };
  });
  return recordDeliveries(steps, leases);
}

export async function expireLeases(): Promise<void> {
  // The column has milliseconds, and rounding could move the time after the next statement's.
  await pool().query("update event set claimed_until = now() - interval '1 second' where fanned_out_at is null");
}

export async function fanOutAll(): Promise<FannedOut> {
  const total = { events: 0, deliveries: 0 };
  for (let isMore = true; isMore; ) {
    isMore = false;
    for (const part of parts) {
      const { events, deliveries } = await fanOut(part);
      total.events += events;
      total.deliveries += deliveries;
      isMore ||= events + deliveries > 0;
    }
  }
  return total;
}

export async function receiversOf(eventId: string): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    "select webhook_id as id from delivery where event_id = $1 order by webhook_id",
    [eventId],
  );
  return rows.map(({ id }) => id);
}
