import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { childEnvironment } from "#core/env.ts";
import { PageVisitor } from "./page-visitor.ts";

/** A response without the text of `contains` counts as failed. */
export type Kind = {
  name: string;
  perSecond: number;
} & (
  | { does: "get"; paths: string[]; headers?: Record<string, string>; contains?: string }
  | { does: "clone"; path: string }
  /** `known`: a browser that has signed in before. `new`: a new browser each time. */
  | { does: "sign-in"; login: string; password: string; browser: "known" | "new" }
);

/** `ms` counts from when the request was due. */
export type Sample = { kind: string; ms: number; outcome: "ok" | "no answer" | "incomplete" | number };

const PATIENCE_MS = 30_000;
const ADDRESS = "127.0.0.1";
/** Readers have many addresses, because the service counts anonymous requests by IP address. */
const READERS = Array.from({ length: 32 }, (_, at) => `127.0.77.${at + 1}`);

/** Runs in a thread, which the attackers' work does not delay. `run` keeps the rate of each kind, even without responses. */
export function startHealthy(origin: string, kinds: Kind[]) {
  // The folder is removed here, because a thread that is terminated runs no cleanup.
  const folder = mkdtempSync(join(tmpdir(), "keyhook-healthy-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const thread = new Worker(import.meta.filename, { workerData: { origin, kinds, folder } });
  return {
    run(seconds: number): Promise<Sample[]> {
      return new Promise((resolve, reject) => {
        thread.once("message", resolve);
        thread.once("error", reject);
        thread.postMessage(seconds);
      });
    },
    stop: () => thread.terminate(),
  };
}

if (!isMainThread && parentPort) {
  const { origin, kinds, folder } = workerData as { origin: string; kinds: Kind[]; folder: string };
  const clients = kinds.map((kind) => ({ kind, act: actorFor(new URL(origin), kind, folder) }));
  parentPort.on("message", async (seconds: number) => {
    const samples: Sample[] = [];
    await Promise.all(clients.map(({ kind, act }) => send(kind, seconds, act, samples)));
    parentPort?.postMessage(samples);
  });
}

async function send(kind: Kind, seconds: number, act: () => Promise<Sample["outcome"]>, samples: Sample[]): Promise<void> {
  const startedAt = performance.now();
  const sent: Promise<void>[] = [];
  for (let count = 0; count < seconds * kind.perSecond; count++) {
    const dueAt = startedAt + ((count + 0.5) * 1_000) / kind.perSecond;
    await delay(Math.max(0, dueAt - performance.now()));
    sent.push(
      act()
        .catch(() => "no answer" as const)
        .then((outcome) => void samples.push({ kind: kind.name, ms: performance.now() - dueAt, outcome })),
    );
  }
  await Promise.all(sent);
}

function actorFor(origin: URL, kind: Kind, folder: string): () => Promise<Sample["outcome"]> {
  if (kind.does === "get") return getter(origin, kind);
  if (kind.does === "clone") return cloner(origin, kind.path, folder);
  return signer(origin, kind);
}

function getter(origin: URL, { paths, headers, contains }: Extract<Kind, { does: "get" }>): () => Promise<Sample["outcome"]> {
  const addresses = headers?.authorization ? [ADDRESS] : READERS;
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  return () =>
    new Promise((resolve) => {
      const localAddress = addresses[turn % addresses.length];
      const to = { host: "127.0.0.1", port: origin.port, localAddress, agent };
      const path = paths[turn++ % paths.length];
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const req = request({ ...to, path, headers: { host: origin.host, ...headers }, signal }, (res) => {
        text(res).then(
          (body) => {
            if (res.statusCode !== 200) resolve(res.statusCode ?? "no answer");
            else resolve(contains === undefined || body.includes(contains) ? "ok" : "incomplete");
          },
          () => resolve("no answer"),
        );
      });
      req.once("error", () => resolve("no answer"));
      req.end();
    });
}

/** The time includes git's own processes, both with and without the attack. */
function cloner(origin: URL, path: string, folder: string): () => Promise<Sample["outcome"]> {
  const env = {
    ...childEnvironment(),
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: "0",
  };
  let turn = 0;
  return () =>
    new Promise((resolve) => {
      const into = join(folder, String(turn++));
      const args = ["clone", "--quiet", "--bare", `http://127.0.0.1:${origin.port}${path}`, into];
      execFile("git", args, { env, timeout: PATIENCE_MS }, (error, _out, said) => {
        rmSync(into, { recursive: true, force: true });
        const status = Number(/returned error: (\d{3})/.exec(said)?.[1] ?? 0);
        resolve(error ? status || "no answer" : "ok");
      });
    });
}

function signer(origin: URL, { login, password, browser }: Extract<Kind, { does: "sign-in" }>): () => Promise<Sample["outcome"]> {
  const known = new PageVisitor(origin, ADDRESS);
  return async () => {
    const visitor = browser === "known" ? known : new PageVisitor(origin, ADDRESS);
    const status = await visitor.signIn(login, password, AbortSignal.timeout(PATIENCE_MS));
    return status === 303 ? "ok" : status;
  };
}
