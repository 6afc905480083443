import type pg from "pg";
import { withDirectConnection } from "../db.ts";
import { env } from "../env.ts";
import { firstIdAt } from "../ids.ts";
import { log } from "../log.ts";
import { readableSize } from "../readable-size.ts";
import { ATTEMPT_BYTES, recordsLimit } from "./limits.ts";

const LOCK = 5_407_276;
/** Deletes a bit more than necessary, so that not every new record causes another deletion. */
const DOWN_TO = 0.9;
const OWNERS_AT_ONCE = 100;
const RUNS_AT_ONCE = 50;
/** A run whose record is smaller needs no more space than other rows. */
const LARGE_RUN_BYTES = 4_096;
const ATTEMPTS_AT_ONCE = 500;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Deletes the oldest records: first output and responses, then responses to unfinished deliveries, then whole runs and attempts.
 */
export async function makeRoom(stopping: AbortSignal): Promise<void> {
  await inOneProcess(async (client) => {
    for (const kind of ["logs", "attempts"] as const) {
      const limit = recordsLimit(kind);
      if (limit === null) continue;
      const { rows } = await client.query<{ owner_id: string; bytes: number }>(
        `select owner_id, sum(bytes)::float8 as bytes from storage_use where kind = $1
          group by owner_id having sum(bytes) > $2 order by 2 desc limit ${OWNERS_AT_ONCE}`,
        [kind, limit],
      );
      for (const { owner_id: ownerId, bytes } of rows) {
        if (stopping.aborted) return;
        const excess = bytes - limit * DOWN_TO;
        const removed = await (kind === "logs" ? removeLogs : removeAttempts)(client, ownerId, { excess, limit, stopping });
        log().info({ owner: ownerId, kind, bytes: removed }, "old records were deleted to free storage");
      }
    }
  });
}

type Excess = { excess: number; limit: number; stopping: AbortSignal };

async function removeLogs(client: pg.PoolClient, ownerId: string, { excess, limit, stopping }: Excess): Promise<number> {
  const note = `The output was deleted: an account can store at most ${readableSize(limit)} of logs, and the oldest are deleted first.\n`;
  let removed = 0;
  while (removed < excess && !stopping.aborted) {
    const { rows } = await client.query<{ id: string; bytes: number }>(
      `select id, log_bytes as bytes from job_run where owner_id = $1 and log_bytes > 0 and finished_at is not null
        order by id limit ${RUNS_AT_ONCE}`,
      [ownerId],
    );
    if (rows.length === 0) break;
    for (const { id, bytes } of rows) {
      if (removed >= excess) break;
      await client.query(
        `with last as (select coalesce(max(seq), 0) as seq from job_log where run_id = $1),
          gone as (delete from job_log where run_id = $1),
          said as (insert into job_log (run_id, seq, at, stream, text) select $1, seq + 1, now(), 'system', $2 from last)
         update job_run set log_bytes = 0 where id = $1`,
        [id, note],
      );
      removed += bytes;
    }
  }
  removed += await removeRuns(client, ownerId, { excess: excess - removed, stopping, aboveBytes: LARGE_RUN_BYTES });
  if (removed >= excess) return removed;
  // The rest of the excess may be output of running jobs, so only finished runs are counted here.
  const { rows } = await client.query<{ bytes: number }>(
    "select coalesce(sum(record_bytes), 0)::float8 as bytes from job_run where owner_id = $1 and finished_at is not null",
    [ownerId],
  );
  return (
    removed + (await removeRuns(client, ownerId, { excess: (rows[0]?.bytes ?? 0) - limit * DOWN_TO, stopping, aboveBytes: 0 }))
  );
}

/** Runs of deliveries in progress stay, because without its run, a delivery would start another one. */
async function removeRuns(
  client: pg.PoolClient,
  ownerId: string,
  { excess, stopping, aboveBytes }: Pick<Excess, "excess" | "stopping"> & { aboveBytes: number },
): Promise<number> {
  let removed = 0;
  while (removed < excess && !stopping.aborted) {
    const { rows } = await client.query<{ bytes: number }>(
      `with old as materialized (
         select id, log_bytes + record_bytes as bytes from job_run
          where owner_id = $1 and finished_at is not null and record_bytes > ${aboveBytes}
            and not exists (select from delivery_queue q where q.id = job_run.delivery_id)
          order by id limit ${RUNS_AT_ONCE}
       ), going as (select id from (select id, sum(bytes) over (order by id) - bytes as before from old) summed where before < $2)
       delete from job_run where id in (select id from going) returning log_bytes + record_bytes as bytes`,
      [ownerId, excess - removed],
    );
    if (rows.length === 0) break;
    for (const { bytes } of rows) removed += bytes;
  }
  return removed;
}

/** A delivery does not need its attempts. */
async function removeAttempts(client: pg.PoolClient, ownerId: string, { excess, stopping }: Excess): Promise<number> {
  let removed = 0;
  for (const what of [ANSWERS, OPEN_ANSWERS, WHOLE])
    removed += await removeByDay(client, ownerId, { excess: excess - removed, stopping, what });
  return removed;
}

async function removeByDay(
  client: pg.PoolClient,
  ownerId: string,
  { excess, stopping, what }: Pick<Excess, "excess" | "stopping"> & { what: Removal },
): Promise<number> {
  if (excess <= 0) return 0;
  const { rows: days } = await client.query<{ part: string }>(
    `select part from storage_use where owner_id = $1 and kind = 'attempts' and bytes > 0 order by part`,
    [ownerId],
  );
  let removed = 0;
  for (const { part } of days) {
    for (let count = ATTEMPTS_AT_ONCE; count === ATTEMPTS_AT_ONCE && removed < excess && !stopping.aborted; ) {
      const { rows } = await client.query<{ count: number; bytes: number }>(
        `with old as materialized (
           select a.id, ${what.bytes} as bytes from attempt a
            where a.owner_id = $1 and a.id >= $2 and a.id < $3 and ${what.where}
            order by a.id limit ${ATTEMPTS_AT_ONCE}
         ), going as (
           select id, bytes from (select id, bytes, sum(bytes) over (order by id) - bytes as before from old) summed where before < $5
         ), gone as (
           ${what.remove} going where a.id = going.id and a.id >= $2 and a.id < $3
         ), freed as (select (select count(*)::int from old) as count, coalesce(sum(bytes), 0)::float8 as bytes from going
         ), counted as (
           update storage_use s set bytes = greatest(0, s.bytes - freed.bytes::bigint) from freed
            where s.owner_id = $1 and s.kind = 'attempts' and s.part = $4
         ) select count, bytes from freed`,
        [ownerId, ...idsOf(part), part, excess - removed],
      );
      count = rows[0]?.count ?? 0;
      removed += rows[0]?.bytes ?? 0;
    }
    if (removed >= excess || stopping.aborted) break;
  }
  return removed;
}

const ANSWER_BYTES = "coalesce(octet_length(a.response_body), 0) + coalesce(octet_length(a.response_headers::text), 0)";
const COUNTED_BYTES = `${ATTEMPT_BYTES} + coalesce(octet_length(a.url), 0) + ${ANSWER_BYTES}`;

type Removal = { bytes: string; where: string; remove: string };
const OPEN_ANSWERS: Removal = {
  bytes: ANSWER_BYTES,
  where: "a.response_headers is not null",
  remove: "update attempt a set response_body = null, response_headers = null, is_body_cut = true from",
};
const ANSWERS: Removal = {
  ...OPEN_ANSWERS,
  where: `${OPEN_ANSWERS.where} and not exists (select from delivery_queue q where q.id = a.delivery_id)`,
};
const WHOLE: Removal = { bytes: COUNTED_BYTES, where: "true", remove: "delete from attempt a using" };

/** @returns the first IDs of this day and the next, because a day is one partition */
function idsOf(day: string): [string, string] {
  const start = Date.parse(day);
  return [firstIdAt(new Date(start)), firstIdAt(new Date(start + DAY_MS))];
}

const ACTUAL = `
  select owner_id, 'git' as kind, sum(repo_bytes(r))::bigint as bytes from repo r group by 1
  union all select owner_id, 'lfs', sum(lfs_bytes)::bigint from repo group by 1
  union all select owner_id, 'logs', sum(log_bytes + record_bytes)::bigint from job_run group by 1
  union all select r.user_id, 'relay', sum(q.bytes + coalesce(octet_length(q.answer_body), 0))::bigint
    from relay_request q join relay r on r.id = q.relay_id group by 1`;

/**
 * Triggers count storage, but a bug or a manual change can make the count wrong.
 * @returns how many counts were wrong
 */
export async function recountStorage(now = Date.now()): Promise<number> {
  let corrected = 0;
  await inOneProcess(async (client) => {
    await client.query("delete from storage_hold where expires_at < now()");
    const kept = new Date(now - (env().WEBHOOK_KEEP_DAYS + 1) * DAY_MS).toISOString().slice(0, 10);
    await client.query("delete from storage_use where kind = 'attempts' and part < $1", [kept]);
    await client.query(
      `delete from storage_use s where not exists (select from "user" u where u.id = s.owner_id)
         and not exists (select from organization o where o.id = s.owner_id)`,
    );
    corrected += await recountObjects(client);
    const { rows } = await client.query<{ owner_id: string; kind: string }>(
      `select owner_id, kind from (${ACTUAL}) real full join (select * from storage_use where kind <> 'attempts') s using (owner_id, kind)
        where coalesce(real.bytes, 0) <> coalesce(s.bytes, 0)`,
    );
    for (const { owner_id, kind } of rows) {
      corrected += await correct(
        client,
        [owner_id, kind, ""],
        `select sum(bytes) from (${ACTUAL}) real where owner_id = $1 and kind = $2`,
      );
    }
    corrected += await recountDay(client, new Date(now - DAY_MS).toISOString().slice(0, 10));
  });
  if (corrected > 0) log().warn({ corrected }, "storage was counted again, and some counts were wrong");
  return corrected;
}

/** A file that was uploaded by Xet takes only the space of its xorbs. */
const LARGE = `(select repo_id, lfs_object_bytes(size_bytes, location) as size_bytes from lfs_object
                union all select repo_id, size_bytes from xet_xorb union all select repo_id, record_bytes from xet_file)`;

async function recountObjects(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ id: string }>(
    `select r.id from repo r left join (select repo_id, sum(size_bytes)::bigint as bytes from ${LARGE} large group by 1) l on l.repo_id = r.id
      where r.lfs_bytes <> coalesce(l.bytes, 0)`,
  );
  let corrected = 0;
  for (const { id } of rows) {
    await client.query("begin");
    // With the row locked, a transaction that adds an object has either committed, or will add to the count written here.
    await client.query("select from repo where id = $1 for no key update", [id]);
    const { rowCount } = await client.query(
      `update repo r set lfs_bytes = l.bytes
         from (select coalesce(sum(size_bytes), 0)::bigint as bytes from ${LARGE} large where repo_id = $1) l
        where r.id = $1 and r.lfs_bytes <> l.bytes`,
      [id],
    );
    await client.query("commit");
    corrected += rowCount ?? 0;
  }
  return corrected;
}

async function recountDay(client: pg.PoolClient, day: string): Promise<number> {
  const [from, to] = idsOf(day);
  const { rows } = await client.query<{ owner_id: string }>(
    `select owner_id from (select a.owner_id, sum(${COUNTED_BYTES}) as bytes from attempt a where a.id >= $1 and a.id < $2 group by 1) real
       full join (select * from storage_use where kind = 'attempts' and part = $3) s using (owner_id)
      where coalesce(real.bytes, 0) <> coalesce(s.bytes, 0)
        and (exists (select from "user" u where u.id = owner_id) or exists (select from organization o where o.id = owner_id))`,
    [from, to, day],
  );
  let corrected = 0;
  for (const { owner_id } of rows) {
    const real = `select sum(${COUNTED_BYTES}) from attempt a where a.owner_id = $1 and $2 = 'attempts' and a.id >= '${from}' and a.id < '${to}'`;
    corrected += await correct(client, [owner_id, "attempts", day], real);
  }
  return corrected;
}

/** With the row locked, every other change has either committed, or waits and then adds to the value written here. */
async function correct(client: pg.PoolClient, key: [ownerId: string, kind: string, part: string], real: string): Promise<number> {
  await client.query("begin");
  await client.query("insert into storage_use (owner_id, kind, part) values ($1, $2, $3) on conflict do nothing", key);
  await client.query("select from storage_use where owner_id = $1 and kind = $2 and part = $3 for update", key);
  const { rowCount } = await client.query(
    `update storage_use s set bytes = coalesce((${real}), 0)::bigint
      where owner_id = $1 and kind = $2 and part = $3 and bytes <> coalesce((${real}), 0)`,
    key,
  );
  await client.query("commit");
  return rowCount ?? 0;
}

async function inOneProcess(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  return withDirectConnection(async (client) => {
    const { rows } = await client.query<{ isOurs: boolean }>(`select pg_try_advisory_lock($1) as "isOurs"`, [LOCK]);
    if (!rows[0]?.isOurs) return;
    await work(client);
    await client.query("select pg_advisory_unlock($1)", [LOCK]);
  });
}
