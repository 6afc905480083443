import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { closeKeptConnections } from "#core/outbound/kept-connections.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { closeDeliveryPool } from "#core/webhooks/delivery/delivery-pool.ts";
import { releaseForgotten } from "#core/webhooks/manage/release-held.ts";
import { DELIVERY_CHANNEL } from "#core/webhooks/vocabulary.ts";

// It is rare, and has already waited for long.
const FORGOTTEN_MS = 60_000;

/** Sends the deliveries in the queue, and records the results. */
export async function startDeliveries(): Promise<{ stop(): Promise<void> }> {
  const engine = new DeliveryEngine();
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  const forgotten = setInterval(() => {
    releaseForgotten().catch((error: unknown) => log().warn({ err: error }, "cannot look for deliveries that nobody holds"));
  }, FORGOTTEN_MS);
  return {
    async stop() {
      clearInterval(forgotten);
      await engine.stop();
      closeKeptConnections();
      await closeDeliveryPool();
    },
  };
}
