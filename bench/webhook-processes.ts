import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";
import { closeConnections } from "#core/db.ts";
import { stopListening } from "#core/notifications.ts";
import { sendRequest } from "#core/outbound/send-request.ts";
import { startDeliveries } from "../worker/deliveries.ts";
import { connectionTo, loadBullMq } from "./bullmq.ts";

/** `bench/webhooks.ts` forks this file for each process, with a role. */
export type Sent = { url: string; headers: Record<string, string>; body: string };

const report = (message: object) => process.send?.(message);
const finished = (): Promise<void> => new Promise((resolve) => void process.once("message", () => resolve()));

async function receive(): Promise<void> {
  let arrived: number[] = [];
  let count = 0;
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      count++;
      const sentAt = /"at-(\d+\.?\d*)"/.exec(Buffer.concat(pieces).toString())?.[1];
      if (sentAt) arrived.push(performance.timeOrigin + performance.now() - Number(sentAt));
      res.end("ok");
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => report({ port: (server.address() as AddressInfo).port }));
  process.on("message", () => {
    report({ count, arrived });
    count = 0;
    arrived = [];
  });
}

async function work(): Promise<void> {
  const deliveries = await startDeliveries();
  report({ ready: true });
  await finished();
  await deliveries.stop();
  await stopListening();
  await closeConnections();
}

const CONCURRENCY = 64;

/** A plain loop of POST requests, which shows the limit of the machine and the receiver. */
async function bare(count: number, { url, headers, body }: Sent): Promise<void> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONCURRENCY, pipelining: 1 });
  report({ ready: true });
  await finished();
  let left = count;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left-- > 0) await (await pool.request({ method: "POST", path: pathname, headers, body })).body.text();
    }),
  );
  report({ done: true });
}

async function send({ url, headers, body }: Sent) {
  const result = await sendRequest({
    url,
    method: "POST",
    headers,
    body,
    deadlineMs: 15_000,
    maxBodyBytes: 65_536,
    onExcess: "cut",
    isConnectionKept: true,
  });
  if (result.outcome !== "answered") throw new Error(result.reason);
  return { ...result, body: Buffer.from(result.body).toString() };
}

async function bullmq(port: number, directory: string): Promise<void> {
  const { Worker } = loadBullMq(directory);
  const options = { ...connectionTo(port), concurrency: CONCURRENCY, autorun: false };
  const worker = new Worker("hooks", ({ data }) => send(data as Sent), options);
  await worker.waitUntilReady();
  report({ ready: true });
  await finished();
  worker.run();
  await finished();
  await worker.close();
}

async function graphile(connectionString: string): Promise<void> {
  const { run, Logger } = await import("graphile-worker");
  report({ ready: true });
  await finished();
  const runner = await run({
    connectionString,
    concurrency: CONCURRENCY,
    maxPoolSize: 10,
    pollInterval: 100,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    preset: { worker: { localQueue: { size: 256 }, completeJobBatchDelay: 0 } },
    taskList: { hook: async (payload) => void (await send(payload as Sent)) },
  });
  await finished();
  await runner.stop();
}

const [, , part = "", ...given] = process.argv;
const [first = "", second = ""] = given;
const parts: Record<string, () => Promise<void>> = {
  receive,
  work,
  bare: () => bare(Number(first), JSON.parse(second)),
  bullmq: () => bullmq(Number(first), second),
  graphile: () => graphile(first),
};
await parts[part]?.();
if (part !== "receive") {
  await delay(10);
  process.exit(0);
}
