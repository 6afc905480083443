import { afterEach, expect, test, vi } from "vitest";
import { OutputSplitter, TEXT_MAX_BYTES } from "./output-splitter.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const splitAll = (output: Buffer, chunkBytes: number): string[] => {
  const splitter = new OutputSplitter();
  const texts: string[] = [];
  for (let at = 0; at < output.length; at += chunkBytes) texts.push(...splitter.split(output.subarray(at, at + chunkBytes)));
  return texts;
};

test("texts are the same for chunks of any size", () => {
  const texts = ["", "a", "é€😀", "", "long ".repeat(5)];
  const output = Buffer.from(texts.map((text) => `${text}\0`).join(""));
  for (let bytes = 1; bytes <= output.length; bytes++) expect(splitAll(output, bytes), `${bytes} bytes`).toEqual(texts);
});

test("the separator can change after any text", () => {
  const splitter = new OutputSplitter();
  const texts: string[] = [];
  for (const text of splitter.split(Buffer.from("a\nb\0c\nd\0\n"))) {
    texts.push(text);
    splitter.separator = 10;
  }
  expect(texts).toEqual(["a\nb", "c", "d\0"]);
});

test("S137 a text of many chunks is searched and copied once", () => {
  const [copied, searched] = [vi.spyOn(Buffer, "concat"), vi.spyOn(Buffer.prototype, "indexOf")];
  const length = 8 * 1024 * 1024;
  const texts = splitAll(Buffer.concat([Buffer.alloc(length, "n"), Buffer.from("\0next\0")]), 4 * 1024);
  expect(texts).toEqual(["n".repeat(TEXT_MAX_BYTES), "next"]);
  const [, ...joined] = copied.mock.results;
  expect(joined.reduce((sum, { value }) => sum + (value as Buffer).length, 0)).toBeLessThanOrEqual(TEXT_MAX_BYTES);
  const lengths = searched.mock.contexts.map((buffer) => (buffer as Buffer).length);
  expect(lengths.reduce((sum, bytes) => sum + bytes)).toBeLessThan(1.1 * length);
});
