import { withConnection } from "../db.ts";

/** How places for work are shared among those whose work it is (decision 072), as SQL about a row. Its table has a column `served_at`. */
export type Share = {
  /** The party whose work it is. It has an index with `due_at` of the rows that are open, and one with `served_at`. */
  party: string;
  /**
   * It ends soon. One place is only for such work, and a party's other work gets at most half of the other places, because nothing is
   * interrupted for those who come later. Where there is both, each has an index by party and `due_at`.
   */
  isShort: string;
  /** Its worker was lost, and only its end has to be recorded: it comes first, and takes a place for a moment only. */
  isLeftOver: string;
};

type Table = { name: string; key: string; isOpen: string; share: Share };
type Wanted = { claimId: string; limit: number; free: number; seconds: number };

/** How many of the parties that hold no place are ranked: those that have waited longest. */
const NEWCOMERS_MAX = 64;

/**
 * Claims rows by turns: first those of the parties that hold the fewest places, among these of the party that was served longest ago, and
 * then the longest due. "All places" are those that are held and those that are free here. Claims come one after another, so that two workers
 * do not give the same party its last place twice.
 *
 * Parties are found by going through the rows in the order in which they are due, and skipping those of parties that are known already.
 * Listing all parties would cost as much as there are, and read a hundred thousand rows of as many accounts.
 */
export async function claimShared<Row>(table: Table, { claimId, limit, free, seconds }: Wanted): Promise<Row[]> {
  return withConnection(async (client) => {
    await client.query("begin");
    // Otherwise a worker that is cut off here would stop all claims until TCP gives up.
    await client.query("set local idle_in_transaction_session_timeout = '5s'");
    await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`claims of ${table.name}`]);
    const { rows } = await client.query({ text: statementOf(table), values: [limit, claimId, seconds, free] });
    await client.query("commit");
    return rows as Row[];
  });
}

function statementOf({ name, key, isOpen, share: { party, isShort, isLeftOver } }: Table): string {
  const isWaiting = `${isOpen} and due_at <= now() and (claimed_until is null or claimed_until <= now())`;
  return `
    with recursive held as materialized (
      select ${party} as party, count(*)::int as places, (count(*) filter (where not (${isShort})))::int as long
      from "${name}" where ${isOpen} and claimed_until > now() group by 1
    ), room as materialized (
      select greatest(0, places - long)::int as long, ceil(places / 2.0)::int as of_party
      from (select greatest(1, coalesce(sum(places), 0) + $4::int - 1) as places, coalesce(sum(long), 0) as long from held) as open_to_long
    ), newcomer as (
      select 0 as number, null::text as party, '-infinity'::timestamptz as due_at, array(select party from held) as met
      union all
      select number + 1, next.party, next.due_at, met || next.party
      from newcomer cross join lateral (
        select ${party} as party, due_at from "${name}"
        where ${isWaiting} and due_at >= newcomer.due_at and not (${party} = any (newcomer.met))
          and (${isShort} or (select long from room) > 0)
        order by due_at limit 1
      ) as next
      where number < greatest($1, ${NEWCOMERS_MAX})
    ), known as (
      select party, places, long from held union all select party, 0, 0 from newcomer where number > 0
    ), party as materialized (
      select party, places, least(room.long, greatest(0, room.of_party - known.long)) as room,
        (select max(served_at) from "${name}" where ${party} = known.party) as last_served
      from known cross join room
    ), candidate as (
      select next.*, party.last_served, party.places + row_number() over (partition by party.party order by next.due_at) as place
      from party cross join lateral (
        (select "${key}" as id, due_at, false as is_long from "${name}"
         where ${party} = party.party and ${isWaiting} and ${isShort} order by due_at limit $1)
        union all
        (select "${key}", due_at, true from "${name}"
         where ${party} = party.party and ${isWaiting} and not (${isShort}) order by due_at limit least($1, party.room))
      ) as next
      union all
      select "${key}", due_at, false, null, 0 from "${name}" where ${isWaiting} and claimed_until <= now() and ${isLeftOver}
    ), ranked as (
      select *, row_number() over (partition by is_long order by place, last_served nulls first, due_at) as rank from candidate
    ), chosen as (
      select id from ranked where not is_long or rank <= (select long from room)
      group by id order by min(place), min(last_served) nulls first, min(due_at) limit $1
    ), due as (
      select "${key}" as id from "${name}" where "${key}" in (select id from chosen) and ${isWaiting} for update skip locked
    )
    update "${name}" as work
    set claim_id = $2, claimed_until = now() + make_interval(secs => $3), attempts = attempts + 1, served_at = now()
    from due where work."${key}" = due.id
    returning work.*, work."${key}" as id`;
}
