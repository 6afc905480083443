import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { bytesOf } from "./incoming-bytes.ts";

test("at most one piece of a body is in memory, and its memory is freed without the garbage collector", async () => {
  const pieces: Uint8Array[] = [];
  const inMemory: number[] = [];
  let received = 0;
  const server = createServer(async (incoming, res) => {
    for await (const piece of bytesOf(incoming)) {
      pieces.push(piece);
      received += piece.byteLength;
      inMemory.push(pieces.filter(({ byteLength }) => byteLength > 0).length);
    }
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  try {
    const body = Buffer.alloc(3_000_000, "the tide ");
    await fetch(`http://localhost:${(server.address() as AddressInfo).port}`, { method: "PUT", body });
    expect(received).toBe(body.length);
    expect(pieces.length).toBeGreaterThan(1);
    expect(inMemory).toEqual(pieces.map(() => 1));
  } finally {
    server.close();
  }
});
