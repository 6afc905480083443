import { recordAuditEvent } from "../audit/record-audit-event.ts";
import { type Db, db, inTransaction } from "../db.ts";
import { Prisma } from "../generated/prisma/client.ts";
import { endDelegatedJobs } from "../jobs/end-delegated.ts";
import { closeDelegatedRelays } from "../relay/close-relay.ts";
import { emailOwner, webhookDisabledEmail } from "./delivery/email-owner.ts";
import { targetInShort } from "./manage/webhook.ts";
import { REPLAY_CHANNEL } from "./replay/webhook-replay.ts";
import { isInForce } from "./watchers.ts";

export type Delegated = {
  /** Each list has at most `NAMED_MAX` items. `more` counts the others. */
  webhooks: { id: string; target: string; organization: string | null; isEnabled: boolean }[];
  schedules: { id: string; command: string; organization: string | null; isSuspended: boolean }[];
  relays: string[];
  runs: number;
  more: { webhooks: number; schedules: number };
};

/** A schedule may have half a megabyte, and an app may have created thousands (S137). */
const NAMED_MAX = 10;
/** A larger schedule is named by its ID. */
const NAMED_MAX_BYTES = 64 * 1024;

type Row = { of: string; webhookCount: number; scheduleCount: number } & Omit<Delegated, "more">;

/**
 * @param of IDs of consents or of personal access tokens
 * @returns what they created, by these IDs
 */
export async function listDelegated(of: readonly string[]): Promise<Map<string, Delegated>> {
  const rows = await db().$queryRaw<
    (Omit<Row, "webhooks"> & { webhooks: (Delegated["webhooks"][number] & { url: string | null })[] })[]
  >`
    SELECT given.of,
      (SELECT coalesce(json_agg(one), '[]') FROM (
        SELECT json_build_object('id', w.id, 'url', w.url, 'organization', o.name, 'isEnabled', w.disabled_at IS NULL) AS one
          FROM webhook w LEFT JOIN organization o ON o.id = w.owner_id WHERE w.delegation_id = ANY (given.ids)
         ORDER BY w.id LIMIT ${NAMED_MAX}) named) AS webhooks,
      (SELECT count(*)::int FROM webhook w WHERE w.delegation_id = ANY (given.ids)) AS "webhookCount",
      (SELECT coalesce(json_agg(one), '[]') FROM (
        SELECT json_build_object('id', s.id, 'command', CASE WHEN s.record_bytes <= ${NAMED_MAX_BYTES}
                 THEN coalesce(s.spec->>'dockerImage', s.spec->>'spaceId') ELSE s.id END, 'organization', o.name,
                 'isSuspended', s.is_suspended) AS one
          FROM (SELECT * FROM scheduled_job WHERE delegation_id = ANY (given.ids) ORDER BY id LIMIT ${NAMED_MAX}) s
          LEFT JOIN organization o ON o.id = s.owner_id ORDER BY s.id) named) AS schedules,
      (SELECT count(*)::int FROM scheduled_job s WHERE s.delegation_id = ANY (given.ids)) AS "scheduleCount",
      (SELECT coalesce(json_agg(r.name ORDER BY r.name), '[]') FROM relay r
        WHERE r.delegation_id = ANY (given.ids) AND r.closed_at IS NULL AND r.expires_at > now()) AS relays,
      (SELECT count(*)::int FROM job_run j WHERE j.delegation_id = ANY (given.ids) AND j.finished_at IS NULL) AS runs
    FROM (
      SELECT g.of, array_agg(d.id) AS ids FROM unnest(${[...of]}::text[]) AS g(of)
      JOIN delegation d ON (d.consent_id = g.of OR (d.token_id = g.of AND d.client_id IS NULL)) AND d.ended_at IS NULL
      GROUP BY g.of) given`;
  const isAny = ({ webhooks, schedules, relays, runs }: Delegated) =>
    webhooks.length + schedules.length + relays.length + runs > 0;
  const found = rows.map(({ of: id, webhooks, webhookCount, scheduleCount, ...rest }): [string, Delegated] => [
    id,
    {
      ...rest,
      webhooks: webhooks.map(({ url, ...webhook }) => ({ ...webhook, target: targetInShort({ url }) })),
      more: { webhooks: webhookCount - webhooks.length, schedules: scheduleCount - rest.schedules.length },
    },
  ]);
  return new Map(found.filter(([, delegated]) => isAny(delegated)));
}

const BATCH = 20;
/** The limit for each kind of object. A larger transaction would delay the handling of all other ended grants (S137). */
export const STOPPED_AT_ONCE = 100;

/**
 * The ended grant already prevents every action. This makes the end visible.
 * @returns whether there may be more
 */
export async function settleEndedDelegations(): Promise<boolean> {
  return inTransaction(async (tx) => {
    const ended = await tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM delegation WHERE settled_at IS NULL AND ended_at IS NOT NULL
      ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;
    const ids = ended.map(({ id }) => id);
    if (ids.length === 0) return (await disableOutOfReach(tx)) === BATCH;
    const disabled = await disableWebhooks(
      tx,
      Prisma.sql`w.id IN (SELECT id FROM webhook WHERE delegation_id = ANY (${ids}) AND disabled_at IS NULL LIMIT ${STOPPED_AT_ONCE})`,
    );
    await tx.$executeRaw`
      UPDATE webhook_replay SET cancelled_at = now(), due_at = now()
      WHERE delegation_id = ANY (${ids}) AND finished_at IS NULL AND cancelled_at IS NULL`;
    await tx.$executeRaw`SELECT pg_notify(${REPLAY_CHANNEL}, '')`;
    const stopped = await endDelegatedJobs(tx, ids, STOPPED_AT_ONCE);
    await closeDelegatedRelays(tx, ids);
    if (Math.max(disabled, stopped) === STOPPED_AT_ONCE) return true;
    await tx.delegation.updateMany({ where: { id: { in: ids } }, data: { settledAt: new Date() } });
    return ids.length === BATCH;
  });
}

/** The webhook's creator, or the token, has lost the right in the organization. */
function disableOutOfReach(tx: Db): Promise<number> {
  return disableWebhooks(
    tx,
    Prisma.sql`w.id IN (SELECT w.id FROM webhook w WHERE w.delegation_id IS NOT NULL AND w.owner_kind = 'organization'
      AND w.disabled_at IS NULL AND NOT ${isInForce} LIMIT ${BATCH})`,
  );
}

type Disabled = { id: string; ownerId: string; ownerKind: "user" | "organization"; url: string | null; clientId: string | null };

async function disableWebhooks(tx: Db, which: Prisma.Sql): Promise<number> {
  const disabled = await tx.$queryRaw<Disabled[]>`
    UPDATE webhook w SET disabled_at = now(), disabled_reason = 'grant_ended', updated_at = now() FROM delegation d
    WHERE ${which} AND w.delegation_id = d.id AND w.disabled_at IS NULL
    RETURNING w.id, w.owner_id AS "ownerId", w.owner_kind AS "ownerKind", w.url, d.client_id AS "clientId"`;
  for (const { id, ownerId, ownerKind, url, clientId } of disabled) {
    const target = targetInShort({ url });
    await recordAuditEvent(tx, {
      type: "webhook.suspend",
      orgId: ownerKind === "organization" ? ownerId : null,
      subjectId: ownerKind === "user" ? ownerId : null,
      clientId,
      data: { webhookId: id, reason: "grant_ended", target },
    });
    // Before a grant ends, the user sees what stops, but an organization's administrators do not.
    if (ownerKind === "organization") {
      await emailOwner(tx, { id: ownerId, kind: ownerKind }, (recipientName, settings) =>
        webhookDisabledEmail(
          { webhookId: id, reason: "grant_ended", target: url && target, lastFailure: null },
          recipientName,
          settings,
        ),
      );
    }
  }
  return disabled.length;
}
