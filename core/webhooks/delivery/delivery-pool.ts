import type pg from "pg";
import { openPool } from "../../open-pool.ts";

/** Claims, recording and renewals need connections at the same time. */
const POOL_SIZE = 4;

/** The tables change faster than their statistics. A plan for an empty queue would read and sort all of a full queue. */
const PLANNING = "-c enable_seqscan=off -c enable_bitmapscan=off -c enable_mergejoin=off -c jit=off";

/**
 * Planning takes longer than running, and a lease must never scan all webhooks. The commit does not wait for the disk, because a
 * lost lease does no harm.
 */
const LEASING = `${PLANNING} -c enable_hashjoin=off -c enable_material=off -c plan_cache_mode=force_generic_plan -c synchronous_commit=off`;

type Pools = { deliveries?: pg.Pool | undefined; events?: pg.Pool | undefined };
const keeper = globalThis as typeof globalThis & { keyhookDeliveryPools?: Pools };
keeper.keyhookDeliveryPools ??= {};
const kept = keeper.keyhookDeliveryPools;

export function deliveryPool(): pg.Pool {
  kept.deliveries ??= open("keyhook deliveries", PLANNING);
  return kept.deliveries;
}

export function eventPool(): pg.Pool {
  kept.events ??= open("keyhook events", LEASING);
  return kept.events;
}

// A pooler would not keep the settings.
const open = (name: string, options: string): pg.Pool =>
  openPool({ max: POOL_SIZE, application_name: name, options, allowExitOnIdle: true, isDirect: true });

export async function closeDeliveryPool(): Promise<void> {
  const { deliveries, events } = kept;
  kept.deliveries = kept.events = undefined;
  await Promise.all([deliveries?.end(), events?.end()]);
}
