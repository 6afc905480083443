import { log } from "../log.ts";
import { rejectionsSeen } from "../telemetry.ts";

/**
 * A worker handles everybody's mail, deliveries, jobs and Spaces in one process. An unhandled rejection ends one piece of work, and must
 * not affect others: it is logged and counted, and the process continues. An uncaught exception still ends the process, because it may have
 * left something half done (docs/decisions/074-what-holds-a-sandbox.md).
 */
export function outliveRejections(): void {
  process.on("unhandledRejection", (error) => {
    log().error({ err: error }, "unhandled rejection: a bug of this service");
    rejectionsSeen.publish(error);
  });
  process.on("uncaughtException", (error, origin) => {
    log().fatal({ err: error, origin }, "uncaught exception: this process ends, because work may be unfinished");
    process.exit(1);
  });
}
