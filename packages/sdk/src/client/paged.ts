/** A list that comes in pages: `for await` over it for all of them one by one, or over `pages()`. Nothing is asked for before. */
export type Paged<T> = AsyncIterable<T> & { pages(): AsyncIterable<T[]> };

export type Page<T> = { items: T[]; next?: string | null | undefined };

/** @param read a page; `next` of it is the `cursor` of the one after it */
export function paged<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Paged<T> {
  async function* pages(): AsyncGenerator<T[]> {
    let cursor: string | undefined;
    do {
      const { items, next } = await read(cursor);
      if (items.length > 0) yield items;
      // A service that sends its readers in circles does not have them there for ever.
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
