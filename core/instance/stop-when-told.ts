import { log } from "../log.ts";

const DEADLINE_MS = 6_500;

/**
 * Ends this process on a signal, or when its supervisor ends: a child must not continue alone, holding the port and its claims.
 *
 * @param stop finishes what is under way; after 6.5 seconds the process ends without it.
 */
export function stopWhenTold(stop: () => Promise<void>): void {
  let isStopping = false;
  const begin = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), DEADLINE_MS).unref();
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
