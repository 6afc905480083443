import { setTimeout as delay } from "node:timers/promises";
import { Pool } from "undici";

export type Prepared = { method: "GET" | "POST"; path: string; headers?: Record<string, string>; body?: string };

export type Result = { requests: number; seconds: number; requestsPerSecond: number; p50Ms: number; p99Ms: number };

const CONNECTIONS = 16;
const CONNECTIONS_PACED = 64;

/** Fails on the first wrong response, so that fast errors do not count. */
export async function load(origin: string, requests: Iterable<Prepared>, expectedStatus: number): Promise<Result> {
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const iterator = requests[Symbol.iterator]();
  const times: number[] = [];
  const started = performance.now();
  const lane = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) {
      const from = performance.now();
      const { statusCode, body } = await pool.request(next.value);
      const text = await body.text();
      times.push(performance.now() - from);
      if (statusCode !== expectedStatus) throw new Error(`${next.value.path} answered ${statusCode}: ${text.slice(0, 300)}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  } finally {
    await pool.close();
  }
  return result(times, started);
}

/** Keeps the rate like independent devices, even without responses. Times include waiting for a connection. */
export async function pace(
  origin: string,
  requests: Iterable<Prepared>,
  perSecond: number,
  expectedStatus: number,
): Promise<Result> {
  const pool = new Pool(origin, { connections: CONNECTIONS_PACED, pipelining: 1 });
  const times: number[] = [];
  const started = performance.now();
  const send = async (request: Prepared, dueAt: number) => {
    const { statusCode, body } = await pool.request(request);
    const text = await body.text();
    times.push(performance.now() - dueAt);
    if (statusCode !== expectedStatus) throw new Error(`${request.path} answered ${statusCode}: ${text.slice(0, 300)}`);
  };
  const sent: Promise<void>[] = [];
  try {
    for (const request of requests) {
      const dueAt = started + (sent.length * 1000) / perSecond;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await delay(waitMs);
      sent.push(send(request, dueAt));
    }
    await Promise.all(sent);
  } finally {
    await pool.close();
  }
  return result(times, started);
}

function result(times: number[], started: number): Result {
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, seconds, requestsPerSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
