import { pool } from "#core/db.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("clock");
// Authorization codes live for a minute: seconds between two clocks already eat into it.
const NOTICEABLE_SECONDS = 2;
const HARMFUL_SECONDS = 20;
const NEWEST_RECORD_TOLERANCE_SECONDS = 60;

/** Our clock against the database's, and against what was written down earlier, since there may be no time server to ask. */
export async function checkClock(): Promise<Finding[]> {
  const before = Date.now();
  const { rows } = await pool().query<{ now: Date; newest: Date | null }>(
    "SELECT clock_timestamp() AS now, (SELECT max(created_at) FROM audit_event) AS newest",
  );
  const ours = (before + Date.now()) / 2;
  const [row] = rows;
  if (!row) return [];
  const aheadSeconds = (ours - row.now.getTime()) / 1000;
  const found = `${Math.abs(aheadSeconds).toFixed(1)} s ${aheadSeconds < 0 ? "behind" : "ahead of"} the database's`;
  const advice = "Turn on time synchronisation (NTP) on both machines: codes and tokens expire by these clocks.";
  if (Math.abs(aheadSeconds) > HARMFUL_SECONDS) return [report.fail(found, advice)];
  if (Math.abs(aheadSeconds) > NOTICEABLE_SECONDS) return [report.warn(found, advice)];
  if (row.newest && row.newest.getTime() - ours > NEWEST_RECORD_TOLERANCE_SECONDS * 1000) {
    return [report.fail(`it shows ${new Date(ours).toISOString()}, but ${row.newest.toISOString()} has passed already`, advice)];
  }
  return [report.ok(`${new Date(ours).toISOString()}, ${found}`)];
}
