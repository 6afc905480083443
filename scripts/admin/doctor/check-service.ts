import { env } from "#core/env.ts";
import { type Finding, findings, reason } from "./finding.ts";

const report = findings("service");
const TIMEOUT_MS = 3_000;

/** Whether the service runs here and says of itself that it is ready. That it is stopped is no defect. */
export async function checkService(): Promise<Finding[]> {
  const address = `http://127.0.0.1:${env().PORT}/readyz`;
  try {
    const answer = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return [report.ok(`ready on port ${env().PORT}`)];
    return [
      report.fail(`${address} answers ${answer.status}`, "Read the service's log; if another program has the port, set PORT."),
    ];
  } catch (error) {
    const refused = reason((error as Error).cause ?? error).includes("ECONNREFUSED");
    if (refused) return [report.ok("not running")];
    return [report.fail(`${address}: ${reason((error as Error).cause ?? error)}`, "Read the service's log and restart it.")];
  }
}
