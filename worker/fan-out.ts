import { EVENT_CHANNEL } from "#core/events/record-event.ts";
import { FanOutRounds } from "#core/webhooks/fan-out/fan-out-rounds.ts";
import type { Loop } from "./loop.ts";
import { startRounds } from "./rounds.ts";

/** Creates the deliveries of events as soon as they are recorded; any number of workers at once. */
export function startFanOut(): Promise<Loop> {
  const rounds = new FanOutRounds();
  return startRounds({
    channel: EVENT_CHANNEL,
    pollMs: 2_000,
    work: () => rounds.next(),
    complaint: "cannot fan out events; trying again",
  });
}
