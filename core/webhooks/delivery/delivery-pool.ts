import type pg from "pg";
import { openPool } from "../../open-pool.ts";

/** The number of connections in each pool: enough for claims, for recording, and for renewals at the same time. */
const POOL_SIZE = 4;

/**
 * Each statement of the engine touches a few hundred rows by key, in tables that grow and shrink faster than their statistics:
 * a plan made for an empty queue would read and sort all of a full one. These connections therefore exclude such plans.
 */
const PLANNING = "-c enable_seqscan=off -c enable_bitmapscan=off -c enable_mergejoin=off -c jit=off";

/**
 * A lease reads only the watchers of its events' targets, whose number the planner cannot know without statistics; it must never scan or
 * hash all webhooks. Planning takes longer than running, so it is done once per connection. A lease need not survive a
 * crash of the database, so its commit does not wait for the disk: later commits do, and write it too.
 */
const LEASING = `${PLANNING} -c enable_hashjoin=off -c enable_material=off -c plan_cache_mode=force_generic_plan -c synchronous_commit=off`;

type Pools = { deliveries?: pg.Pool | undefined; events?: pg.Pool | undefined };
const keeper = globalThis as typeof globalThis & { keyhookDeliveryPools?: Pools };
keeper.keyhookDeliveryPools ??= {};
const kept = keeper.keyhookDeliveryPools;

/** Connections of the delivery engine, separate from those that the rest of the process shares (core/db.ts). */
export function deliveryPool(): pg.Pool {
  kept.deliveries ??= open("keyhook deliveries", PLANNING);
  return kept.deliveries;
}

/** Connections for leases of events. */
export function eventPool(): pg.Pool {
  kept.events ??= open("keyhook events", LEASING);
  return kept.events;
}

// Direct: a pooler would not keep the settings.
const open = (name: string, options: string): pg.Pool =>
  openPool({ max: POOL_SIZE, application_name: name, options, allowExitOnIdle: true, isDirect: true });

export async function closeDeliveryPool(): Promise<void> {
  const { deliveries, events } = kept;
  kept.deliveries = kept.events = undefined;
  await Promise.all([deliveries?.end(), events?.end()]);
}
