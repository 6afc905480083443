import { expect, test } from "vitest";
import { readableSize } from "./readable-size.ts";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [999, "999 bytes"],
  [1000, "1 kB"],
  [12_345, "12.3 kB"],
  [99_960, "100 kB"],
  [999_499, "999 kB"],
  [999_999, "1 MB"],
  [1_500_000, "1.5 MB"],
  [5 * 10 ** 15, "5,000 TB"],
])("%d bytes are %s", (bytes, said) => expect(readableSize(bytes)).toBe(said));
