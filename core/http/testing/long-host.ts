import { vi } from "vitest";

/** The longest host name that the parser accepts, of characters that it takes longest for. */
export const LONG_HOST = Array.from({ length: 5_000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7_919) % 20_900))).join(
  "",
);

/** @returns the length of the longest URL that was parsed meanwhile */
export async function longestParsed(work: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(URL, "parse");
  try {
    await work();
    return Math.max(0, ...parse.mock.calls.map(([url]) => String(url).length));
  } finally {
    parse.mockRestore();
  }
}
