import { REPLAY_CHANNEL, type ReplayRow, replayTable } from "#core/webhooks/replay/webhook-replay.ts";
import { workReplay } from "#core/webhooks/replay/work-replay.ts";
import { type Loop, startLoop } from "./loop.ts";

/** Queues the deliveries of replays, batch by batch. */
export function startReplays(): Promise<Loop> {
  return startLoop<ReplayRow>({ table: replayTable, channel: REPLAY_CHANNEL, concurrency: 4, run: workReplay });
}
