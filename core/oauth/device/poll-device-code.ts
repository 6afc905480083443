import { errors, Provider } from "oidc-provider";
import type { Payload } from "../artifact-store.ts";
import { pollArtifact } from "./poll-artifact.ts";
import { countTooFastPoll } from "./poll-flood.ts";

/**
 * The result of a poll, with its pace counted (RFC 8628 §3.5). Pace counts only while there is no answer: an impatient device still gets
 * its answer (S61).
 * @throws SlowDown for a device that polls faster than its interval, which is five seconds longer from then on (S60); AccessDenied, at
 * every poll, for a device that was denied.
 */
export async function pollDeviceCode(id: string): Promise<Payload | undefined> {
  const clientId = Provider.ctx?.oidc.client?.clientId ?? "";
  const polled = await pollArtifact(id, clientId);
  // The engine has its own error for another client's code (S63).
  if (!polled || polled.payload.clientId !== clientId) return polled?.payload;
  const { payload, pace } = polled;
  if (pace?.isTooFast) {
    countTooFastPoll(id);
    throw new errors.SlowDown(slowDown(pace));
  }
  if (payload.error === "access_denied") throw new errors.AccessDenied(String(payload.errorDescription));
  return payload;
}

/** What a device is told that polled too early; the RFC leaves the new interval for the device to compute. */
export const slowDown = ({ intervalSeconds }: { intervalSeconds: number }): string =>
  `polled too fast; wait ${intervalSeconds} seconds between polls`;
