const last = new Map<string, Promise<unknown>>();

/**
 * Lets those in this process that want the same thing have it one after the other. Git tells apart whoever is elsewhere; here they only
 * need not build a commit on what another is about to move.
 */
export async function inTurn<T>(key: string, act: () => Promise<T>): Promise<T> {
  const before = last.get(key);
  const mine = (before ?? Promise.resolve()).then(act, act);
  last.set(key, mine);
  try {
    return await mine;
  } finally {
    if (last.get(key) === mine) last.delete(key);
  }
}
