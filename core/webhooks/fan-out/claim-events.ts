import type pg from "pg";
import { membersWhoMay } from "../../access/members-who-may.ts";
import { Prisma } from "../../generated/prisma/client.ts";

/** An event whose deliveries are to be created, locked by the transaction that creates them. */
export type ClaimedEvent = {
  id: string;
  scope: string;
  action: string;
  repoId: string;
  repoType: string;
  ownerId: string;
  isPrivate: boolean;
  isTest: boolean;
  /** Whether its actor may not write to the repository: such events get only a part of a webhook's triggers (S127). */
  isByOutsider: boolean;
  /** The last webhook that was looked at; null at the start. */
  cursor: string | null;
  payload: string;
  traceparent: string | null;
};

/** Events per transaction. */
export const BATCH = 64;

export type Selection = {
  /** Events to skip for now. */
  except?: readonly string[];
  /** Only these. */
  only?: readonly string[];
};

/**
 * Takes the oldest events without deliveries for this transaction: others skip them, and those of a killed worker are free at
 * once (S122).
 * @param part many `fresh` ones at a time; only one of those `begun`, which have many watchers
 */
export async function claimEvents(
  tx: pg.ClientBase,
  part: "fresh" | "begun",
  { except = [], only }: Selection = {},
): Promise<ClaimedEvent[]> {
  const isBegun = part === "begun";
  const { text, values } = Prisma.sql`
    SELECT id, scope, action, repo_id AS "repoId", repo_type AS "repoType", owner_id AS "ownerId", is_private AS "isPrivate",
      is_test AS "isTest", fan_out_cursor AS cursor, payload::text AS payload, traceparent, NOT ${mayActorWrite} AS "isByOutsider"
    FROM event e WHERE fanned_out_at IS NULL AND fan_out_cursor IS ${Prisma.raw(isBegun ? "NOT NULL" : "NULL")} AND NOT (id = ANY (${except}))
      AND (${only ?? null}::text[] IS NULL OR id = ANY (${only ?? null}))
    ORDER BY created_at, id LIMIT ${isBegun ? 1 : BATCH} FOR UPDATE OF e SKIP LOCKED`;
  const { rows } = await tx.query<ClaimedEvent>({ name: `claim-events-${part}`, text, values });
  return rows;
}

/** Every ref that changed is a pull request's. */
const isOfPullRequests: Prisma.Sql = Prisma.sql`coalesce((
  SELECT bool_and(changed ->> 'ref' LIKE 'refs/pr/%') FROM json_array_elements(e.payload -> 'updatedRefs') changed), false)`;

/**
 * Events without a person, from the service or a program, count as a writer's. So do a platform's, except discussions, in which
 * anybody may take part there, and pushes to pull requests alone. A subquery instead of EXISTS, as in watchers.ts.
 */
const mayActorWrite: Prisma.Sql = Prisma.sql`(
  (e.actor_id IS NULL AND (e.source IS NULL OR (e.scope LIKE 'repo%' AND NOT ${isOfPullRequests}))) OR e.actor_id IS NOT DISTINCT FROM e.owner_id OR coalesce((
  SELECT true FROM member_standing m WHERE m.org_id = e.owner_id AND m.user_id = e.actor_id
    AND ${membersWhoMay("repo.write", Prisma.sql`(SELECT r.created_by_id FROM repo r WHERE r.id = e.repo_id)`, { isPresent: false })}
  LIMIT 1), false))`;
