import type { PoolClient } from "pg";
import { withConnection } from "../../db.ts";
import { AWAITED_SECONDS } from "../controls/wake-space.ts";
import type { Gateway } from "../gateway/start-gateway.ts";
import { SPACE_PARTY } from "../space-runtime.ts";
import { SPACE_CHANNEL } from "../stages.ts";
import type { Run } from "./record-run.ts";

export type SlotDemand = { waiting: string; slots: ReadonlyMap<string, number> };

/**
 * Only one worker does this at a time, because several workers would each end a Space for the same waiting Space.
 * @returns the run to stop
 */
export async function makeRoom(choose: (demand: SlotDemand) => Run | undefined): Promise<Run | undefined> {
  return withConnection(async (client) => {
    await putUnawaitedToSleep(client);
    await client.query("BEGIN");
    await client.query("SET LOCAL idle_in_transaction_session_timeout = '5s'");
    const lock = "SELECT pg_try_advisory_xact_lock(hashtextextended('room for Spaces', 0)) AS held";
    const isOurs = (await client.query<{ held: boolean }>(lock)).rows[0]?.held === true;
    const demand = isOurs ? await readDemand(client) : undefined;
    const chosen = demand && choose(demand);
    const isAsleep = chosen && (await putToSleep(client, chosen));
    await client.query("COMMIT");
    return isAsleep ? chosen : undefined;
  });
}

async function readDemand(client: PoolClient): Promise<SlotDemand | undefined> {
  const leaving = await client.query("SELECT FROM space_runtime WHERE NOT is_wanted AND claimed_until > now() LIMIT 1");
  if (leaving.rowCount !== 0) return undefined;
  const { rows } = await client.query<{ party: string; slots: number; waitsSince: Date | null }>(
    `SELECT ${SPACE_PARTY} AS party, (count(*) FILTER (WHERE claimed_until > now()))::int AS slots,
            min(due_at) FILTER (WHERE due_at <= now() - interval '1 second' AND (claimed_until IS NULL OR claimed_until <= now())) AS "waitsSince"
       FROM space_runtime WHERE is_wanted GROUP BY 1 ORDER BY slots, "waitsSince"`,
  );
  const next = rows.find(({ waitsSince }) => waitsSince !== null);
  return next && { waiting: next.party, slots: new Map(rows.map(({ party, slots }) => [party, slots])) };
}

async function putUnawaitedToSleep(client: PoolClient): Promise<void> {
  await client.query(
    `WITH asleep AS (
       UPDATE space_runtime SET stage = 'SLEEPING', is_wanted = false, awaited_at = NULL, updated_at = now()
        -- Without waiting: a transaction that changes many rows may hold some of them.
        WHERE repo_id IN (SELECT repo_id FROM space_runtime
          WHERE is_wanted AND awaited_at < now() - make_interval(secs => $1) AND (claimed_until IS NULL OR claimed_until <= now())
          FOR UPDATE SKIP LOCKED)
        RETURNING repo_id
     ) SELECT pg_notify($2, repo_id) FROM asleep`,
    [AWAITED_SECONDS, SPACE_CHANNEL],
  );
}

/** The slot counts as free at once, although the command gets a moment to end. */
async function putToSleep(client: PoolClient, { repoId, claimId, generation }: Run): Promise<boolean> {
  const { rowCount } = await client.query(
    `WITH asleep AS (
       UPDATE space_runtime SET stage = 'SLEEPING', is_wanted = false, generation = generation + 1, message = NULL, address = NULL,
         awaited_at = NULL, updated_at = now()
        WHERE repo_id = $1 AND claim_id = $2 AND generation = $3 AND is_wanted RETURNING repo_id
     ) SELECT pg_notify($4, repo_id) FROM asleep`,
    [repoId, claimId, generation, SPACE_CHANNEL],
  );
  return rowCount === 1;
}

export type Occupant = Run & {
  startedAt: number;
  isWoken: boolean;
  held: number;
  uses: ReturnType<Gateway["usesOf"]>;
};

/**
 * A quiet Space yields first, then a busy one that has run this long. The busy Space's party must keep as many slots as the
 * waiting party then has, because the two would otherwise only swap.
 */
const TURN_SECONDS = 5 * 60;
/** One visitor can keep at most this share of the slots busy, even with requests to many Spaces. */
const KEPT_SHARE = 1 / 4;

export function chooseToEnd(
  { waiting, slots }: SlotDemand,
  occupants: readonly Occupant[],
  capacity: number,
): Occupant | undefined {
  const held = slots.get(waiting) ?? 0;
  const now = Date.now();
  const before = now - TURN_SECONDS * 1_000;
  const users = new Map(occupants.map((one) => [one, usersSince(one, before)]));
  const busy = busyOnes(users, Math.max(1, Math.floor(capacity * KEPT_SHARE)));
  const isQuiet = (one: Occupant) =>
    one.uses !== undefined && one.uses.since < (one.isWoken ? now - AWAITED_SECONDS * 1_000 : before) && !busy.has(one);
  const [quiet] = occupants
    .filter((one) => isQuiet(one) && one.held >= held)
    .toSorted((a, b) => b.held - a.held || lastUse(a) - lastUse(b));
  const [long] = occupants
    .filter((one) => one.startedAt < before && one.held >= held + 2)
    .toSorted((a, b) => b.held - a.held || a.startedAt - b.startedAt);
  return quiet ?? long;
}

const usersSince = ({ uses }: Occupant, since: number): string[] =>
  [...(uses?.lastBy ?? [])].flatMap(([party, at]) => (at >= since ? party : []));

const lastUse = ({ startedAt, uses }: Occupant): number => Math.max(startedAt, ...(uses?.lastBy.values() ?? []));

/** Spaces with few callers are counted first, because a Space with many callers can be kept busy by any of them. */
function busyOnes(users: ReadonlyMap<Occupant, readonly string[]>, most: number): ReadonlySet<Occupant> {
  const kept = new Map<string, number>();
  const keeps = (party: string) => {
    const count = (kept.get(party) ?? 0) + 1;
    kept.set(party, count);
    return count <= most;
  };
  const inOrder = [...users].toSorted(([a, of], [b, by]) => of.length - by.length || a.startedAt - b.startedAt);
  return new Set(inOrder.flatMap(([one, parties]) => (parties.filter(keeps).length > 0 ? one : [])));
}
