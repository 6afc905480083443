/**
 * A list that the service gives in pages. `for await (const item of list)` reads all items, and `for await (const items of list.pages())`
 * whole pages. Each page is requested when the loop reaches it, and no page after the loop has ended.
 * @group Client
 */
export type Paged<T> = AsyncIterable<T> & { pages(): AsyncIterable<T[]> };

/** One page of a list, and the cursor of the next one, if there is one. @group Client */
export type Page<T> = { items: T[]; next?: string | null | undefined };

/**
 * Creates a {@link Paged} list for an operation that has no method in the client.
 * @param read Reads the page at a cursor, or the first page for `undefined`. Its `next` becomes the cursor of the page after it.
 * @returns The list. Errors of `read` end the loop that reads it.
 * @group Client
 */
export function paged<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Paged<T> {
  async function* pages(): AsyncGenerator<T[]> {
    let cursor: string | undefined;
    do {
      const { items, next } = await read(cursor);
      if (items.length > 0) yield items;
      // A service that names the same page again would be read forever.
      if (next != null && next === cursor) return;
      cursor = next ?? undefined;
    } while (cursor !== undefined);
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const items of pages()) yield* items;
    },
  };
}
