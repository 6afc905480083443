import { requestContext } from "../log.ts";

type FindAll<Key, Found> = (keys: Key[]) => Promise<Found[]>;

type Waiting<Key, Found> = { key: Key; resolve(found: Found): void; reject(error: unknown): void };

/**
 * Combines all lookups of the same turn of the event loop.
 * @param atOnce how many combined lookups may be in progress
 */
export function batched<Key, Found>(
  findAll: FindAll<Key, Found>,
  maxKeys: number,
  atOnce = Number.POSITIVE_INFINITY,
): (key: Key) => Promise<Found> {
  const waiting: Waiting<Key, Found>[] = [];
  let inProgress = 0;

  function startBatches(): void {
    while (waiting.length > 0 && inProgress < atOnce) void runBatch(waiting.splice(0, maxKeys));
  }

  async function runBatch(batch: Waiting<Key, Found>[]): Promise<void> {
    inProgress++;
    try {
      // The lookup is for several callers, so it must not count against the first, or wait behind that caller's requests (S137).
      const found = await requestContext.exit(() => findAll(batch.map(({ key }) => key)));
      for (const [at, { resolve }] of batch.entries()) resolve(found[at] as Found);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    inProgress--;
    startBatches();
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ key, resolve, reject }) === 1) setImmediate(startBatches);
    });
}
