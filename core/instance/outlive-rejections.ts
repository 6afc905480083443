import { log } from "../log.ts";
import { rejectionsSeen } from "../telemetry.ts";

/**
 * A worker is one process for everybody's mail, deliveries, jobs and Spaces. A promise that is rejected while nobody awaits it is the end
 * of one piece of work, which others must not pay for: it is logged, counted, and the process goes on. What is thrown elsewhere still
 * ends it, since it may have left half of something behind (docs/decisions/074-what-holds-a-sandbox.md).
 */
export function outliveRejections(): void {
  process.on("unhandledRejection", (error) => {
    log().error({ err: error }, "something failed with nobody waiting for it: a fault of this service");
    rejectionsSeen.publish(error);
  });
  process.on("uncaughtException", (error, origin) => {
    log().fatal({ err: error, origin }, "this process ends: what was thrown may have left things half done");
    process.exit(1);
  });
}
