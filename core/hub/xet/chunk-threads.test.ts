import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { CHUNK_ENTRY_BYTES } from "./check-xorb.ts";
import { checkXorb, hashContent } from "./chunk-threads.ts";
import { hashChunk } from "./hashes.ts";
import { packedChunk, someXorb } from "./testing/xet-files.ts";

async function* inPieces(bytes: Buffer, size = 100_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const chunks = Array.from({ length: 40 }, (_, at) => randomBytes(9_000 + at * 1_000));

test("a valid xorb passes unchanged, with data about its chunks", async () => {
  const xorb = await someXorb(chunks, "lz4");
  const checked = { chunks: new Uint8Array() };
  const through: Uint8Array[] = [];
  for await (const piece of checkXorb(inPieces(xorb.bytes), xorb.hash, checked)) through.push(Uint8Array.from(piece));
  expect(Buffer.concat(through).equals(xorb.bytes)).toBe(true);
  expect(checked.chunks).toHaveLength(chunks.length * CHUNK_ENTRY_BYTES);
  expect(Buffer.from(checked.chunks).subarray(0, 32)).toEqual(hashChunk(chunks[0] as Buffer));
});

test("the check of an invalid xorb never yields the last piece", async () => {
  const { bytes } = await someXorb(chunks);
  const through: Uint8Array[] = [];
  const checking = async () => {
    for await (const piece of checkXorb(inPieces(bytes), "ab".repeat(32), { chunks: new Uint8Array() }))
      through.push(Uint8Array.from(piece));
  };
  await expect(checking()).rejects.toMatchObject({ code: "invalid_request" });
  expect(Buffer.concat(through).length).toBeLessThan(bytes.length);
});

test("S145 many simultaneous jobs do not affect each other", async () => {
  const packed = chunks.map((chunk) => packedChunk(chunk, "lz4"));
  const hashed = packed.map((_, at) => hashContent(inPieces(Buffer.concat(packed.slice(at)))));
  const broken = hashContent(inPieces(randomBytes(1_000_000)));
  await expect(broken).rejects.toMatchObject({ code: "invalid_request" });
  const wanted = chunks.map((_, at) =>
    createHash("sha256")
      .update(Buffer.concat(chunks.slice(at)))
      .digest("hex"),
  );
  expect(await Promise.all(hashed)).toEqual(wanted);
});

test("S145 data that decompresses to 200 times its size does not block others", async () => {
  const packed = packedChunk(Buffer.alloc(131_072, "tide"), "lz4");
  async function* repeated() {
    for (let time = 0; time < 2_000; time++) yield packed;
  }
  let turns = 0;
  const ticking = setInterval(() => void turns++, 1);
  await hashContent(repeated());
  clearInterval(ticking);
  // In this thread, the event loop would turn only once for each step.
  expect(turns).toBeGreaterThan(20);
});
