import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { log } from "../log.ts";
import { rejectionsSeen } from "../telemetry.ts";

const STOP_MAX_MS = 6_500;

/**
 * A child must not outlive the supervisor, because it would keep the port and its claims.
 * @param stop after 6.5 seconds, the process ends even if this has not finished
 */
export function stopOnSignal(stop: () => Promise<void>): void {
  let isStopping = false;
  const begin = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_MAX_MS).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log().error({ err: error }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", begin);
  process.on("SIGINT", begin);
  process.on("disconnect", begin);
}

/** A worker does everybody's work, so a rejection must not end it (docs/decisions/074-what-holds-a-sandbox.md). */
export function surviveRejections(): void {
  process.on("unhandledRejection", (error) => {
    log().error({ err: error }, "unhandled rejection: a bug in this service");
    rejectionsSeen.publish(error);
  });
  process.on("uncaughtException", (error, origin) => {
    log().fatal({ err: error, origin }, "uncaught exception: this process ends, because work may be unfinished");
    process.exit(1);
  });
}

const STARTED_MS = 5_000;

/** V8 frees memory only when it needs more, so an idle process would keep the memory of its start. */
export function releaseStartMemory(): void {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  setTimeout(collectGarbage, STARTED_MS).unref();
}

const ALIVE_EVERY_MS = 5_000;

export function reportAlive(): void {
  process.send?.("ready");
  setInterval(() => process.connected && process.send?.("alive"), ALIVE_EVERY_MS).unref();
}

/** EX_CONFIG of sysexits.h. The supervisor exits with the same status. */
export const CANNOT_START = 78;
