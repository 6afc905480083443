import type { EventPayload, EventScope } from "@keyhook/sdk";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import type { FannedOut } from "../fan-out/fan-out.ts";
import { fanOut, parts } from "../fan-out/fan-out.ts";

/** Webhooks and events for tests, as rows. */
export type Owner = { kind: "user" | "organization"; id: string };

type NewWebhook = { domains?: string[]; isDisabled?: boolean; url?: string };

export async function watchingWebhook(owner: Owner, watched: string[], options: NewWebhook = {}): Promise<string> {
  const id = newId();
  await db().webhook.create({
    data: {
      id,
      ownerId: owner.id,
      ownerKind: owner.kind,
      url: options.url ?? `https://${id}.example.test/`,
      domains: options.domains ?? ["repo", "discussion"],
      disabledAt: options.isDisabled ? new Date() : null,
      watched: { create: watched.map((targetId) => ({ type: "model", targetId })) },
    },
  });
  return id;
}

export type SomeRepo = { id: string; ownerId: string; isPrivate?: boolean };

type Happened = {
  scope?: EventScope;
  movedTo?: { name: string; owner: { id: string } };
  actorId?: string | null;
  /** Of a platform's event. */
  source?: string;
  /** Names of refs. */
  updatedRefs?: string[];
};

/** An event of a repository as `recordEvent` writes it. @returns its id */
export async function someEvent(
  { id: repoId, ownerId, isPrivate = false }: SomeRepo,
  { scope = "repo.content", movedTo, actorId = null, source, updatedRefs }: Happened = {},
): Promise<string> {
  const id = newId();
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

/** Fans out until nothing is left. */
export async function fanOutAll(): Promise<Omit<FannedOut, "isMore" | "begun">> {
  const total = { events: 0, deliveries: 0 };
  for (let isMore = true; isMore; ) {
    isMore = false;
    for (const part of parts) {
      const result = await fanOut(part);
      total.events += result.events;
      total.deliveries += result.deliveries;
      isMore ||= result.isMore || result.events > 0;
    }
  }
  return total;
}

/** The webhooks that receive an event, in order. */
export async function toldOf(eventId: string): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    "select webhook_id as id from delivery where event_id = $1 order by webhook_id",
    [eventId],
  );
  return rows.map(({ id }) => id);
}
