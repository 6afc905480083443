import type { QueuedLogoutNotice } from "./logout-notice-table.ts";

/**
 * How many notices of one client, and of one user, this process sends at once. Anyone can have an app that responds slowly, and sign in to
 * it and out of it all day; other users' notices must not wait behind theirs (S109).
 */
export const TURNS_MAX = 8;

const underWay = new Map<string, number>();

/** @returns a function that ends the turn; undefined while the client or the user is at the limit. */
export function takeTurn({ client_id, user_id }: QueuedLogoutNotice): (() => void) | undefined {
  const keys = [`client ${client_id}`, `person ${user_id}`];
  if (keys.some((key) => (underWay.get(key) ?? 0) >= TURNS_MAX)) return undefined;
  for (const key of keys) underWay.set(key, (underWay.get(key) ?? 0) + 1);
  return () => {
    for (const key of keys) {
      const left = (underWay.get(key) ?? 1) - 1;
      if (left > 0) underWay.set(key, left);
      else underWay.delete(key);
    }
  };
}
