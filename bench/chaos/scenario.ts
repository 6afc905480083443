import { setTimeout as delay } from "node:timers/promises";
import { newToken } from "#core/crypto/token.ts";
import { newId } from "#core/ids.ts";
import { makeWebhook, recordAtRate } from "./load.ts";
import { latencies, type Outcome, percentile, settle, tally, watchBacklog } from "./measure.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import type { ChaosService } from "./service.ts";

export type Scenario = { name: string; run(service: ChaosService): Promise<Outcome> };

export const EVENTS_PER_SECOND = 200;
const RECOVERY_SECONDS = 30;

export async function startTarget(service: ChaosService) {
  const repoId = newId();
  const secret = newToken("");
  const receiver = await startReceiver(secret);
  const webhookId = await makeWebhook(service.ownerId, repoId, receiver.url, secret);
  return { repoId, webhookId, receiver, secret };
}

type Fault = {
  seconds?: number;
  perSecond?: number;
  /** When the fault occurs, in seconds after the start of the load. */
  after?: number;
  /** By default events are recorded directly. @returns the confirmed events */
  load?: (repoId: string) => Promise<Map<string, number>>;
  /** @returns how many deliveries were claimed at the kill, and the time of the last fault (default: before the call) */
  strike(context: { service: ChaosService; receiver: Receiver; webhookId: string }): Promise<{ inFlight?: number; at?: number }>;
  check?(context: {
    service: ChaosService;
    receiver: Receiver;
    webhookId: string;
    recorded: Map<string, number>;
  }): Promise<Partial<Outcome>>;
};

export async function underLoad(
  service: ChaosService,
  { seconds = 12, perSecond = EVENTS_PER_SECOND, after = 4, load, strike, check }: Fault,
): Promise<Outcome> {
  const { repoId, webhookId, receiver } = await startTarget(service);
  const backlog = watchBacklog(service, [webhookId]);
  const sending = load ? load(repoId) : recordAtRate(repoId, service.ownerId, perSecond, seconds);
  await delay(after * 1_000);
  const struckAt = Date.now();
  const { inFlight, at = struckAt } = await strike({ service, receiver, webhookId });
  const recorded = await sending;
  const isSettled = await settle(service, [webhookId], 45);
  const recoverySeconds = await backlog.stop(at);
  const counts = await tally(service, webhookId, new Set(recorded.keys()), receiver);
  const more = (await check?.({ service, receiver, webhookId, recorded })) ?? {};
  receiver.stop();
  const unverified = receiver.arrivals.filter(({ isVerified }) => !isVerified).length;
  const faults = [
    ...(counts.lost > 0 ? [`${counts.lost} lost`] : []),
    ...(counts.duplicates > (inFlight ?? 0) ? [`${counts.duplicates} duplicates, ${inFlight ?? 0} in flight`] : []),
    ...(recoverySeconds > RECOVERY_SECONDS ? [`recovered after ${recoverySeconds} s`] : []),
    ...(isSettled ? [] : ["the queue did not empty"]),
    ...(unverified > 0 ? [`${unverified} signatures not verified`] : []),
    ...(counts.sent === 0 ? ["nothing was sent"] : []),
  ];
  return { ...counts, recoverySeconds, inFlight, ...more, faults: [...faults, ...(more.faults ?? [])] };
}

export async function latencyNote(service: ChaosService, webhookId: string, recorded: Map<string, number>, receiver: Receiver) {
  const times = await latencies(service, webhookId, recorded, receiver);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}
