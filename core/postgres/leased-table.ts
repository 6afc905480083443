import { hash, randomUUID } from "node:crypto";
import { pool, withConnection } from "../db.ts";
import { batched } from "./batched.ts";

/** The rows are work (docs/decisions/008). A worker claims them for a lease, and records outcomes only under its claim. */
export type LeasedTable = {
  name: string;
  /** The column that `claimRows` returns as `id`. */
  key?: string;
  /** An SQL condition that is true while the row's work is not done. */
  isOpen: string;
  share?: Share;
};

/** How long a claim lasts without renewal (S122). */
export const LEASE_SECONDS = 30;

type Claim<Row> = { claimId: string; rows: Row[] };

/** @param free the worker's free slots, if it has more than `limit` */
export async function claimRows<Row>(table: LeasedTable, limit: number, free = limit): Promise<Claim<Row>> {
  const { name, key = "id", isOpen, share } = table;
  const claimId = randomUUID();
  if (share)
    return {
      claimId,
      rows: await claimShared<Row>({ name, key, isOpen, share }, { claimId, limit, free, seconds: LEASE_SECONDS }),
    };
  const { rows } = await pool().query(
    `with due as (
       select "${key}" as id from "${name}"
       where ${waiting(isOpen)}
       order by due_at limit $1 for update skip locked
     )
     update "${name}" as work
     set claim_id = $2, claimed_until = now() + make_interval(secs => $3), attempts = attempts + 1
     from due where work."${key}" = due.id
     returning work.*, work."${key}" as id`,
    [limit, claimId, LEASE_SECONDS],
  );
  return { claimId, rows };
}

const waiting = (isOpen: string): string => `${isOpen} and due_at <= now() and (claimed_until is null or claimed_until <= now())`;

export const hasDue = batched<LeasedTable, boolean>(async (tables) => {
  const text = `select ${tables.map(({ name, isOpen }) => `exists (select from "${name}" where ${waiting(isOpen)})`).join(", ")}`;
  const { rows } = await pool().query<boolean[]>({ name: hash("sha1", text), text, rowMode: "array" });
  return rows[0] ?? [];
}, 20);

/** Does not renew a claim that another worker has taken over. */
export async function renewClaims({ name, isOpen }: LeasedTable, claimIds: string[]): Promise<void> {
  await pool().query(
    `update "${name}" set claimed_until = now() + make_interval(secs => $2) where claim_id = any ($1) and ${isOpen}`,
    [claimIds, LEASE_SECONDS],
  );
}

/** The strings are SQL about a row (decision 072). The table has a column `served_at`. */
type Share = {
  /** The user or organization of the work. Open rows need two indexes: by this and `due_at`, and by this and `served_at`. */
  party: string;
  /** One slot is reserved for short work. If a table also has long work, each kind needs an index by party and `due_at`. */
  isShort: string;
  /** The work of a lost worker comes first, because recording its end needs a slot only for a moment. */
  isLeftOver: string;
  /** The largest share of the slots for the long work of one party. The default is half. */
  part?: number;
  /** At most `max` claimed rows have the same value in the column `of`. */
  crowd?: { of: string; max: number };
};

type Table = { name: string; key: string; isOpen: string; share: Share };
type Wanted = { claimId: string; limit: number; free: number; seconds: number };

/** Of the parties without a running row, this many are considered, or `limit` if that is more. The longest wait comes first. */
const NEWCOMERS_MAX = 64;

/** Claims of a table are made one at a time, so that two workers do not both give a party its last slot. */
async function claimShared<Row>(table: Table, { claimId, limit, free, seconds }: Wanted): Promise<Row[]> {
  return withConnection(async (client) => {
    await client.query("begin");
    // A worker that loses its connection here would block all claims until TCP gives up.
    await client.query("set local idle_in_transaction_session_timeout = '5s'");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`claims of ${table.name}`]);
    const { rows } = await client.query({ text: statementOf(table), values: [limit, claimId, seconds, free] });
    await client.query("commit");
    return rows as Row[];
  });
}

function statementOf({ name, key, isOpen, share: { party, isShort, isLeftOver, part = 0.5, crowd } }: Table): string {
  const isWaiting = waiting(isOpen);
  const ofCrowd = crowd?.of ?? "null::text";
  const hasRoom = (crowds: string, nth = "1", of = ofCrowd) =>
    crowd ? `cardinality(array_positions(${crowds}, ${of})) + ${nth} <= ${crowd.max}` : "true";
  return `
    with recursive held as materialized (
      select ${party} as party, count(*)::int as slots, (count(*) filter (where not (${isShort})))::int as long
      from "${name}" where ${isOpen} and claimed_until > now() group by 1
    ), crowded as materialized (
      select coalesce(array_agg(${ofCrowd}), '{}') as crowds from "${name}" where ${isOpen} and claimed_until > now()
    ), room as materialized (
      select greatest(0, slots - long)::int as long, ceil(slots * ${part})::int as of_party
      from (select greatest(1, coalesce(sum(slots), 0) + $4::int - 1) as slots, coalesce(sum(long), 0) as long from held) as open_to_long
    ), newcomer as (
      select 0 as number, null::text as party, '-infinity'::timestamptz as due_at, array(select party from held) as met,
        (select crowds from crowded) as crowds
      union all
      select number + 1, next.party, next.due_at, met || next.party, crowds || next.crowd
      from newcomer cross join lateral (
        select ${party} as party, due_at, ${ofCrowd} as crowd from "${name}"
        where ${isWaiting} and due_at >= newcomer.due_at and not (${party} = any (newcomer.met))
          and (${isShort} or (select long from room) > 0) and ${hasRoom("newcomer.crowds")}
        order by due_at limit 1
      ) as next
      where number < greatest($1, ${NEWCOMERS_MAX})
    ), known as (
      select party, slots, long from held union all select party, 0, 0 from newcomer where number > 0
    ), party as materialized (
      select party, slots, least(room.long, greatest(0, room.of_party - known.long)) as room,
        (select max(served_at) from "${name}" where ${party} = known.party) as last_served
      from known cross join room
    ), candidate as (
      select next.*, party.last_served, party.slots + row_number() over (partition by party.party order by next.due_at) as slot
      from party cross join lateral (
        (select "${key}" as id, due_at, false as is_long, ${ofCrowd} as crowd from "${name}"
         where ${party} = party.party and ${isWaiting} and ${isShort} and ${hasRoom("(select crowds from crowded)")}
         order by due_at limit $1)
        union all
        (select "${key}", due_at, true, ${ofCrowd} from "${name}"
         where ${party} = party.party and ${isWaiting} and not (${isShort}) and ${hasRoom("(select crowds from crowded)")}
         order by due_at limit least($1, party.room))
      ) as next
      union all
      select "${key}", due_at, false, ${ofCrowd}, null, 0 from "${name}" where ${isWaiting} and claimed_until <= now() and ${isLeftOver}
    ), counted as (
      select *, row_number() over (partition by crowd order by slot, last_served nulls first, due_at) as nth_of_crowd from candidate
    ), ranked as (
      select *, row_number() over (partition by is_long order by slot, last_served nulls first, due_at) as rank
      from counted cross join crowded where ${hasRoom("crowds", "nth_of_crowd", "crowd")}
    ), chosen as (
      select id from ranked where not is_long or rank <= (select long from room)
      group by id order by min(slot), min(last_served) nulls first, min(due_at) limit $1
    ), due as (
      select "${key}" as id from "${name}" where "${key}" in (select id from chosen) and ${isWaiting} for update skip locked
    )
    update "${name}" as work
    set claim_id = $2, claimed_until = now() + make_interval(secs => $3), attempts = attempts + 1, served_at = now()
    from due where work."${key}" = due.id
    returning work.*, work."${key}" as id`;
}
