import type pg from "pg";

/** An event whose deliveries are to be made, held by the transaction that makes them. */
export type ClaimedEvent = {
  id: string;
  scope: string;
  action: string;
  repoId: string;
  repoType: string;
  ownerId: string;
  isPrivate: boolean;
  isTest: boolean;
  /** The last webhook that was looked at; null at the beginning. */
  cursor: string | null;
  payload: string;
  traceparent: string | null;
};

/** Events of one transaction. */
export const BATCH = 64;

export type Selection = {
  /** Events to leave alone for now. */
  except?: readonly string[];
  /** Only these. */
  only?: readonly string[];
};

/**
 * Takes the oldest events without deliveries for this transaction: others pass them by, and a killed worker's are free at once (S122).
 * @param part `fresh` ones many at a time; of those `begun`, which have many watchers, one
 */
export async function claimEvents(
  tx: pg.ClientBase,
  part: "fresh" | "begun",
  { except = [], only }: Selection = {},
): Promise<ClaimedEvent[]> {
  const isBegun = part === "begun";
  const { rows } = await tx.query<ClaimedEvent>({
    name: `claim-events-${part}`,
    text: `select id, scope, action, repo_id as "repoId", repo_type as "repoType", owner_id as "ownerId", is_private as "isPrivate",
        is_test as "isTest", fan_out_cursor as cursor, payload::text as payload, traceparent
      from event where fanned_out_at is null and fan_out_cursor is ${isBegun ? "not null" : "null"} and not (id = any ($2))
        and ($3::text[] is null or id = any ($3))
      order by created_at, id limit $1 for update skip locked`,
    values: [isBegun ? 1 : BATCH, except, only],
  });
  return rows;
}
