import { env } from "../../env.ts";
import { type Heartbeat, type ProcessKind, startHeartbeat } from "../heartbeat.ts";
import { type ProcessMetrics, startProcessMetrics } from "./process-metrics.ts";

/** This process, as operators see it. */
export type OwnProcess = { heartbeat: Heartbeat; metrics: ProcessMetrics | null; stop(): Promise<void> };

let own: OwnProcess | undefined;

/** Starts this process's heartbeat and, if METRICS_TOKEN lets somebody read them, its metrics. */
export function startOwnProcess(kind: ProcessKind): OwnProcess {
  const metrics = env().METRICS_TOKEN ? startProcessMetrics(kind) : null;
  const heartbeat = startHeartbeat(kind, metrics?.report);
  own = {
    heartbeat,
    metrics,
    async stop() {
      own = undefined;
      await heartbeat.stop();
      metrics?.stop();
    },
  };
  return own;
}

export const ownProcess = (): OwnProcess | undefined => own;
