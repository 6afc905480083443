/** Looks up the values of these keys, in the order of the keys. */
type FindAll<Key, Found> = (keys: Key[]) => Promise<Found[]>;

type Waiting<Key, Found> = { key: Key; resolve(found: Found): void; reject(error: unknown): void };

/**
 * Combines all lookups of the same turn of the event loop into one. An idle process queries at once for each, since nobody else is waiting;
 * the busier it is, the more requests it reads in one turn, and the more of them share a round trip, its two system calls and its
 * statement. A caller's result was read after it asked.
 */
export function gather<Key, Found>(findAll: FindAll<Key, Found>, maxKeys: number): (key: Key) => Promise<Found> {
  let waiting: Waiting<Key, Found>[] = [];

  function ask(): void {
    const asked = waiting;
    waiting = [];
    for (let at = 0; at < asked.length; at += maxKeys) void answer(asked.slice(at, at + maxKeys));
  }

  async function answer(asked: Waiting<Key, Found>[]): Promise<void> {
    try {
      const found = await findAll(asked.map(({ key }) => key));
      for (const [at, { resolve }] of asked.entries()) resolve(found[at] as Found);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ key, resolve, reject }) === 1) setImmediate(ask);
    });
}
