import { countAlive } from "#core/operations/heartbeat.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("worker");

/** Whether a worker lives beside the web process, by what both write down. That neither runs is no defect. */
export async function checkWorker(): Promise<Finding[]> {
  const { web, worker } = await countAlive();
  if (worker > 0) return [report.ok(worker === 1 ? "alive" : `${worker} alive`)];
  if (web === 0) return [report.ok("not running")];
  return [report.fail("none is alive beside the web process: no mail goes out", "Read the service's log and restart it.")];
}
