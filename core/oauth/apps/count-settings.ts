import type { Actor } from "../../access/actor.ts";
import { partyOf } from "../../access/may.ts";
import { consumeBytes, type ThrottleLimit, throttleKey } from "../../accounts/throttle.ts";

/** S137: no quota counts apps, and an account may create many organizations with 200 apps each. */
const SET_BYTES: ThrottleLimit = { limit: 16 * 1024 * 1024, windowSeconds: 24 * 60 * 60 };

/**
 * Only new items count, so removing items is always possible.
 * @param before the current settings
 */
export async function countSettings(
  actor: Actor,
  given: Readonly<Record<string, unknown>>,
  logo: Uint8Array | null | undefined,
  before: Partial<Record<string, unknown>> = {},
): Promise<void> {
  const party = partyOf(actor);
  if (!party) return;
  const isNew = (field: string) => (item: unknown) => !(before[field] as unknown[] | undefined)?.includes(item);
  const added = Object.entries(given).map(([field, value]) => (Array.isArray(value) ? value.filter(isNew(field)) : [value]));
  const key = throttleKey("app-settings", party);
  await consumeBytes(key, added.flat().join(""), SET_BYTES);
  if (logo) await consumeBytes(key, logo, SET_BYTES);
}
