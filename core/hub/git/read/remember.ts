/**
 * What was found out about a commit stays true, since its name is a hash of all that it has: so it is kept, the latest used first,
 * up to `max` answers. What is not worth keeping is found anew each time.
 */
export function rememberLatest<T>(max: number) {
  const known = new Map<string, T>();
  return async (key: string, find: () => Promise<T>, isKept: (found: T) => boolean = () => true): Promise<T> => {
    const value = known.get(key) ?? (await find());
    known.delete(key);
    if (isKept(value)) known.set(key, value);
    const oldest = known.size > max ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return value;
  };
}
