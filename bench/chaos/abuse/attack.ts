import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { finished } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Kind } from "./healthy.ts";
import type { Stage } from "./stage.ts";

export type Attack = {
  /** The attack's number in the security review, or A and a number if the review does not have the attack. */
  id: string;
  name: string;
  prepare(stage: Stage, attackers: Attackers): Promise<Strike>;
};

export type Strike = {
  run(signal: AbortSignal): Promise<void>;
  healthy?: Kind[];
  got?(): Promise<string[]> | string[];
  /** The most memory in MiB for all jobs and Spaces of this attack. Not checked if absent. */
  tasksMaxMiB?: number;
};

export type Tally = {
  answered: number;
  /** Refused with 4xx or 503. */
  refused: number;
  /** A 5xx response except 503, or no response on an open connection. */
  failed: number;
  sentBytes: number;
  receivedBytes: number;
  statuses: Record<string, number>;
};

export type Sent = { status: number; text: string; headers: IncomingMessage["headers"] };
export type Request = {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  from?: number;
};

const ANSWER_KEPT_BYTES = 256 * 1024;

/** The service counts by IP address, so attackers and healthy clients have different loopback addresses. */
export class Attackers {
  readonly tally: Tally = { answered: 0, refused: 0, failed: 0, sentBytes: 0, receivedBytes: 0, statuses: {} };
  readonly #origin: URL;
  readonly #addresses: string[];
  readonly #agent = new Agent({ keepAlive: false });
  readonly #ended = new AbortController();
  #next = 0;

  constructor(origin: string, count = 16) {
    this.#origin = new URL(origin);
    this.#addresses = Array.from({ length: count }, (_, at) => `127.0.66.${at + 1}`);
  }

  end(): void {
    this.#ended.abort();
  }

  #address(from = this.#next++): string {
    return this.#addresses[from % this.#addresses.length] as string;
  }

  /** @returns the response, with the first 256 KiB of its body, or undefined without a response */
  async send({ path, method = "GET", headers = {}, body, from }: Request): Promise<Sent | undefined> {
    if (this.#ended.signal.aborted) return undefined;
    const req = request({
      ...{ method, path, host: "127.0.0.1", port: this.#origin.port, localAddress: this.#address(from), agent: this.#agent },
      headers: {
        host: this.#origin.host,
        connection: "close",
        ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
        ...headers,
      },
      signal: this.#ended.signal,
    });
    req.on("error", () => undefined);
    req.end(body);
    this.tally.sentBytes += body === undefined ? 0 : Buffer.byteLength(body);
    try {
      const [res] = (await once(req, "response")) as [IncomingMessage];
      const kept: Buffer[] = [];
      let length = 0;
      // An iterator would cost the attacker a quarter of a core, which would slow the service.
      res.on("data", (chunk: Buffer) => {
        if (length < ANSWER_KEPT_BYTES) kept.push(chunk);
        length += chunk.length;
      });
      await finished(res);
      this.tally.receivedBytes += length;
      this.#count(res.statusCode ?? 0);
      return { status: res.statusCode ?? 0, text: Buffer.concat(kept).toString("utf8"), headers: res.headers };
    } catch {
      if (!this.#ended.signal.aborted) this.#count("none");
      return undefined;
    }
  }

  #count(status: number | "none"): void {
    this.tally.statuses[status] = (this.tally.statuses[status] ?? 0) + 1;
    if (status === "none") this.tally.failed += 1;
    else if (status >= 500 && status !== 503) this.tally.failed += 1;
    else if (status >= 400) this.tally.refused += 1;
    else this.tally.answered += 1;
  }

  /** Opens a connection for requests that a client library would not send. */
  open(head: string, from?: number): Socket {
    const socket = connect({ host: "127.0.0.1", port: Number(this.#origin.port), localAddress: this.#address(from) });
    socket.on("error", () => undefined);
    socket.write(head.replaceAll("\n", "\r\n"));
    const end = () => void socket.destroy();
    this.#ended.signal.addEventListener("abort", end);
    socket.once("close", () => this.#ended.signal.removeEventListener("abort", end));
    return socket;
  }

  head(method: string, path: string, headers: Record<string, string> = {}): string {
    const lines = Object.entries({ Host: this.#origin.host, ...headers }).map(([name, value]) => `${name}: ${value}`);
    return `${[`${method} ${path} HTTP/1.1`, ...lines].join("\n")}\n\n`;
  }
}

export async function lanes(
  count: number,
  signal: AbortSignal,
  work: (turn: number) => Promise<unknown>,
  pauseMs = 20,
): Promise<void> {
  let turn = 0;
  const lane = async () => {
    while (!signal.aborted) {
      await work(turn++).catch(() => undefined);
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: count }, lane));
}

/** The benchmark measures the effect of holding connections, not of opening them. */
const OPENED_AT_ONCE = 10;
const OPEN_EVERY_MS = 200;

export async function holdOpen(
  count: number,
  signal: AbortSignal,
  held: { most: number },
  open: (turn: number) => Socket,
): Promise<void> {
  const sockets = new Set<Socket>();
  for (let turn = 0; !signal.aborted; ) {
    for (let opened = 0; sockets.size < count && opened < OPENED_AT_ONCE; opened++) {
      const socket = open(turn++);
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    }
    held.most = Math.max(held.most, sockets.size);
    await delay(OPEN_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}
