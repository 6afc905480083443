import { EVENT_CHANNEL } from "#core/events/record-event.ts";
import { log } from "#core/log.ts";
import { listen } from "#core/notifications.ts";
import { closeKeptConnections } from "#core/outbound/kept-connections.ts";
import { endRelays } from "#core/relay/close-relay.ts";
import { RELAY_DELIVERY_CHANNEL } from "#core/relay/relay.ts";
import { DeliveryEngine } from "#core/webhooks/delivery/delivery-engine.ts";
import { closeDeliveryPool } from "#core/webhooks/delivery/delivery-pool.ts";
import { keepPartitions } from "#core/webhooks/keep-partitions.ts";
import { releaseForgotten } from "#core/webhooks/manage/enable-webhook.ts";
import { queueRelayed } from "#core/webhooks/relayed.ts";
import { REPLAY_CHANNEL, type ReplayRow, replayTable } from "#core/webhooks/replay/webhook-replay.ts";
import { workReplay } from "#core/webhooks/replay/work-replay.ts";
import { DELIVERY_CHANNEL } from "#core/webhooks/vocabulary.ts";
import { type Loop, startLoop, startRounds } from "./loop.ts";

export async function startDeliveries(): Promise<Loop> {
  const engine = new DeliveryEngine();
  await listen(EVENT_CHANNEL, () => engine.announceEvents());
  await listen(DELIVERY_CHANNEL, () => engine.announce());
  engine.start();
  const forgotten = await startRounds({
    what: "look for deliveries that nobody holds",
    everyMs: 60_000,
    firstMs: 60_000,
    work: releaseForgotten,
  });
  return {
    async stop() {
      await Promise.all([forgotten.stop(), engine.stop()]);
      closeKeptConnections();
      await closeDeliveryPool();
    },
  };
}

export function startReplays(): Promise<Loop> {
  return startLoop<ReplayRow>({ table: replayTable, channel: REPLAY_CHANNEL, concurrency: 4, run: workReplay });
}

const PARTITIONS_EVERY_MS = 60 * 60_000;

export async function startDeliveryPartitions(): Promise<Loop> {
  async function work(): Promise<void> {
    const { made, dropped } = await keepPartitions();
    if (made > 0 || dropped.length > 0) log().info({ made, dropped }, "created or dropped daily partitions of deliveries");
  }
  // A failure does not prevent the start, because a delivery for whose day there is no partition goes into the default one.
  const isDone = await work().then(
    () => true,
    () => false,
  );
  return startRounds({
    what: "create or drop daily partitions of deliveries",
    everyMs: PARTITIONS_EVERY_MS,
    firstMs: isDone ? PARTITIONS_EVERY_MS : 0,
    isSpread: true,
    work,
  });
}

export function startRelayedResponses(): Promise<Loop> {
  return startRounds({
    what: "queue the responses of relays",
    channel: RELAY_DELIVERY_CHANNEL,
    // A response that arrives just as its caller stops waiting is not announced.
    everyMs: 5_000,
    work: queueRelayed,
  });
}

export function startRelayEnds(): Promise<Loop> {
  return startRounds({ what: "close expired relays", everyMs: 60_000, isSpread: true, work: endRelays });
}
