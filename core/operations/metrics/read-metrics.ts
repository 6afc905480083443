import { AggregatorRegistry } from "prom-client";
import { isEqualInConstantTime } from "../../crypto/token.ts";
import { pool } from "../../db.ts";
import { env } from "../../env.ts";
import { notFound, ServiceError } from "../../errors.ts";
import { SILENT_AFTER_SECONDS } from "../heartbeat.ts";
import { ownProcess } from "./own-process.ts";
import type { ReportedMetrics } from "./process-metrics.ts";
import { workMetrics } from "./work-metrics.ts";

/**
 * What Prometheus reads: the work, this process now, and every other process as of its latest heartbeat.
 * @param authorization of the request. The client's address gives no access: a proxy on this machine is loopback too
 * @throws ServiceError `not_found` while METRICS_TOKEN is not set; `unauthorized` for another one
 */
export async function readMetrics(authorization: string | undefined): Promise<{ contentType: string; text: string }> {
  const { METRICS_TOKEN } = env();
  if (!METRICS_TOKEN) throw notFound("Page");
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (token === undefined || !isEqualInConstantTime(token, METRICS_TOKEN)) {
    throw new ServiceError("unauthorized", "Send the bearer token of METRICS_TOKEN.");
  }
  const { metrics, heartbeat } = ownProcess() ?? {};
  const [work, mine, others] = await Promise.all([workMetrics(), metrics?.report() ?? [], reportedByOthers(heartbeat?.id ?? "")]);
  const processes = AggregatorRegistry.aggregate([mine, ...others] as never);
  return { contentType: processes.contentType, text: `${await work.metrics()}\n${await processes.metrics()}` };
}

async function reportedByOthers(ownId: string): Promise<ReportedMetrics[]> {
  try {
    const { rows } = await pool().query<{ metrics: ReportedMetrics }>(
      `SELECT metrics FROM process_heartbeat
        WHERE metrics IS NOT NULL AND id <> $1 AND seen_at > now() - make_interval(secs => $2) ORDER BY id LIMIT 200`,
      [ownId, SILENT_AFTER_SECONDS],
    );
    return rows.map(({ metrics }) => metrics);
  } catch {
    // Without the database only this process is known; a metric reports that the database is unavailable.
    return [];
  }
}
