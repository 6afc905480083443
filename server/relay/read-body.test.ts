import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { readBody } from "./serve-relay.ts";

const MIB = 1024 * 1024;

function begun(bytes: number) {
  const stream = new PassThrough({ highWaterMark: 64 * MIB });
  const request = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage;
  stream.write(Buffer.alloc(bytes));
  return { stream, request };
}

it("S138 one user's relays hold at most a part of the shared memory", async () => {
  const slow = Array.from({ length: 18 }, () => begun(7 * MIB));
  const reading = slow.map(({ request }) => readBody(request, 8 * MIB, "mallory"));
  // By now, every slow request either waits for its body or was refused.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const other = begun(5 * MIB);
  other.stream.end();
  const read = await readBody(other.request, 8 * MIB, "ada");
  expect(read).toMatchObject({ bytes: { length: 5 * MIB } });
  if (typeof read === "object") read.release();

  for (const { stream } of slow) stream.end();
  const ended = await Promise.all(reading);
  expect(ended.filter((one) => one === "busy").length).toBeGreaterThanOrEqual(9);
  for (const one of ended) if (typeof one === "object") one.release();
  const again = begun(8 * MIB);
  again.stream.end();
  expect(await readBody(again.request, 8 * MIB, "mallory")).toMatchObject({ bytes: { length: 8 * MIB } });
});

it("S138 four accounts with slow senders leave a part of the memory to the next account", async () => {
  const people = ["one", "two", "three", "four"];
  const slow = people.flatMap((person) => Array.from({ length: 4 }, () => ({ person, ...begun(8 * MIB - 1) })));
  const reading = slow.map(({ request, person }) => readBody(request, 8 * MIB, person));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const other = begun(8 * MIB - 1);
  other.stream.end();
  const read = await readBody(other.request, 8 * MIB, "ada");
  expect(read).toMatchObject({ bytes: { length: 8 * MIB - 1 } });
  if (typeof read === "object") read.release();
  for (const { stream } of slow) stream.end();
  for (const one of await Promise.all(reading)) if (typeof one === "object") one.release();
});
