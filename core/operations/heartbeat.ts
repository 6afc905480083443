import { hostname } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { keyIds } from "../crypto/seal.ts";
import { pool } from "../db.ts";
import { newId } from "../ids.ts";
import { log } from "../log.ts";

export type ProcessKind = "web" | "worker";

const EVERY_MS = 15_000;
export const SILENT_AFTER_SECONDS = 60;

export type Heartbeat = {
  readonly id: string;
  stop(): Promise<void>;
};

export function startHeartbeat(kind: ProcessKind, report?: () => Promise<unknown>): Heartbeat {
  const id = newId();
  let beating: Promise<void> = Promise.resolve();

  async function beat(): Promise<void> {
    try {
      const metrics = report ? JSON.stringify(await report()) : null;
      await pool().query(
        `INSERT INTO process_heartbeat (id, kind, host, pid, version, metrics, key_ids) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (id) DO UPDATE SET seen_at = now(), metrics = excluded.metrics`,
        [id, kind, hostname().slice(0, 200), process.pid, packageJson.version, metrics, keyIds()],
      );
    } catch (error) {
      log().debug({ err: error }, "the heartbeat could not be written");
    }
  }

  beating = beat();
  const timer = setInterval(() => {
    beating = beat();
  }, EVERY_MS).unref();
  return {
    id,
    async stop() {
      clearInterval(timer);
      await beating;
      await pool()
        .query("DELETE FROM process_heartbeat WHERE id = $1", [id])
        .catch((error: unknown) => log().debug({ err: error }, "the heartbeat could not be ended"));
    },
  };
}

export async function countAlive(): Promise<Record<ProcessKind, number>> {
  const { rows } = await pool().query<Record<ProcessKind, number>>(
    `SELECT count(*) FILTER (WHERE kind = 'web')::int AS web, count(*) FILTER (WHERE kind = 'worker')::int AS worker
       FROM process_heartbeat WHERE seen_at > now() - make_interval(secs => $1)`,
    [SILENT_AFTER_SECONDS],
  );
  return rows[0] ?? { web: 0, worker: 0 };
}
