import { randomBytes } from "node:crypto";
import { compressFrameSync } from "lz4-napi";
import { describe, expect, test } from "vitest";
import { CHUNK_HEADER_BYTES, CHUNK_MAX_BYTES, ChunkSplitter, readChunkHeader, unpackChunk } from "./chunk.ts";
import { unpackFrame } from "./lz4-frame.ts";
import { packedChunk } from "./testing/xet-files.ts";

const unpack = (chunk: Buffer): Buffer => unpackChunk(readChunkHeader(chunk, 0), chunk.subarray(CHUNK_HEADER_BYTES));
const text = Buffer.from("the tide comes in, the tide goes out. ".repeat(1_000));
const floats = Buffer.from(Float32Array.from({ length: 10_000 }, (_, at) => Math.sin(at)).buffer);

describe("a chunk", () => {
  test.each([
    ["text", text],
    ["numbers", floats],
    ["one byte", Buffer.from("x")],
    ["a length that four does not divide", text.subarray(0, 10_003)],
    ["the largest", randomBytes(CHUNK_MAX_BYTES)],
  ])("is unpacked unchanged: %s", (_, data) => {
    for (const scheme of ["none", "lz4", "bg4"] as const) expect(unpack(packedChunk(data, scheme)).equals(data)).toBe(true);
  });

  test.each([
    ["of an unknown version", Buffer.concat([Buffer.from([1]), packedChunk(text).subarray(1)])],
    ["compressed with an unknown method", Buffer.from([0, 1, 0, 0, 3, 1, 0, 0, 7])],
    ["of no bytes", packedChunk(text, "none", { bytes: 0 })],
    ["larger than allowed", packedChunk(Buffer.alloc(CHUNK_MAX_BYTES + 1), "lz4")],
    ["with two different sizes", packedChunk(text, "none", { bytes: text.length - 1 })],
    ["that becomes shorter than it says", packedChunk(text, "lz4", { bytes: text.length + 1 })],
    ["that becomes longer than it says", packedChunk(text, "lz4", { bytes: text.length - 1 })],
    ["that is not LZ4", packedChunk(text, "lz4", { packed: randomBytes(100) })],
    ["that ends too early", packedChunk(text, "lz4", { packed: compressFrameSync(text).subarray(0, -5) })],
    ["with something after it", packedChunk(text, "lz4", { packed: Buffer.concat([compressFrameSync(text), Buffer.from("x")]) })],
    ["of two frames", packedChunk(text, "lz4", { packed: Buffer.concat([compressFrameSync(text), compressFrameSync(text)]) })],
  ])("is refused: %s", (_, chunk) => {
    expect(() => unpack(chunk)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  const asking = (frame: Buffer, descriptor: number, checksum: number): Buffer => {
    const changed = Buffer.from(frame);
    [changed[5], changed[6]] = [descriptor, checksum];
    return changed;
  };

  test.each([
    ["64 KiB", 0x40, 0x82],
    ["256 KiB", 0x50, 0xfb],
    ["1 MiB", 0x60, 0x51],
    ["4 MiB, as the JavaScript client does,", 0x70, 0x73],
  ])("S145 whose frame asks for blocks of %s is decompressed with blocks of the needed size", (_, descriptor, checksum) => {
    const small = asking(compressFrameSync(text), descriptor, checksum);
    expect(unpackFrame(small, text.length).equals(text)).toBe(true);
    expect(small[5]).toBe(0x40);
    if (descriptor === 0x40) return;
    const data = Buffer.alloc(CHUNK_MAX_BYTES, "the tide");
    const large = asking(compressFrameSync(data), descriptor, checksum);
    expect(unpackFrame(large, data.length).equals(data)).toBe(true);
    expect(large[5]).toBe(0x50);
  });

  test("with every optional field is decompressed", () => {
    // Made by `lz4 -BX --content-size`: with the size, and checksums of block and content.
    const frame = "04224d187c4064000000000000005e0b0000001f7801004b507878787878e8bb17a4000000003a0dd34b";
    expect(unpackFrame(Buffer.from(frame, "hex"), 100)).toEqual(Buffer.alloc(100, "x"));
    expect(() => unpackFrame(asking(compressFrameSync(text), 0x70, 0x74), text.length)).toThrow("not one LZ4 frame");
  });

  test("S145 is refused before decompression if it would become far larger than a chunk", () => {
    const bomb = packedChunk(text, "lz4", { packed: compressFrameSync(Buffer.alloc(60_000_000)) });
    expect(bomb.length).toBeLessThan(300_000);
    const before = process.memoryUsage.rss();
    expect(() => unpack(bomb)).toThrow("too large");
    expect(process.memoryUsage.rss() - before).toBeLessThan(30_000_000);
  });

  test("with random bytes either has a valid size or is refused", () => {
    const right = [packedChunk(text, "bg4"), packedChunk(text, "lz4")];
    for (let round = 0; round < 2_000; round++) {
      const chunk = Buffer.from(right[round % 2] as Buffer);
      for (let flips = 0; flips < 3; flips++) chunk[Math.floor(Math.random() * Math.min(chunk.length, 200))] = round % 256;
      try {
        expect(unpack(chunk).length).toBeLessThanOrEqual(CHUNK_MAX_BYTES);
      } catch (error) {
        expect(error).toMatchObject({ code: "invalid_request" });
      }
    }
  });
});

describe("S145 a stream is cut into chunks", () => {
  const chunks = [randomBytes(CHUNK_MAX_BYTES), text, Buffer.from("x"), floats, text];
  const schemes = ["none", "lz4", "none", "bg4", "none"] as const;
  const footer = randomBytes(200_000).fill("X", 0, 1);
  const stream = Buffer.concat([...chunks.map((chunk, at) => packedChunk(chunk, schemes[at])), footer]);
  const cut = (pieceBytes: number): Buffer[] => {
    const splitter = new ChunkSplitter();
    const found: Buffer[] = [];
    const arriving = Buffer.from(stream);
    for (let at = 0; at < stream.length; at += pieceBytes) {
      const piece = arriving.subarray(at, at + pieceBytes);
      for (const { header, packed } of splitter.push(piece, (first) => first === footer[0])) {
        found.push(Buffer.from(unpackChunk(header, packed)));
      }
    }
    expect(splitter.rest.equals(footer)).toBe(true);
    // The received bytes are written to disk during the check, so they must stay unchanged.
    expect(arriving.equals(stream)).toBe(true);
    return found;
  };

  test.each([1, 7, 8, 9, 1_000, 100_000, 1_000_000])("from pieces of %i bytes", (pieceBytes) => {
    const found = cut(pieceBytes);
    expect(found.map(({ length }) => length)).toEqual(chunks.map(({ length }) => length));
    expect(Buffer.concat(found).equals(Buffer.concat(chunks))).toBe(true);
  });
});
