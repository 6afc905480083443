import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { parseOptions } from "@node-rs/argon2";
import { newToken } from "../../crypto/token.ts";
import { ServiceError } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";
import { ARGON2 } from "./argon2.ts";
import type { PasswordTask } from "./password-thread.ts";

const THREADS = 2;

/** Correct passwords count towards no limit, so without a fair queue a few accounts could keep the processor busy. */
const hashing = fairQueue({ name: "passwords", slots: THREADS, anonymousShare: 1, waitingMax: 256, waitMaxMs: 20_000 });

// Each bundle of Next has its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookPasswordThreads?: { all: Set<Worker>; idle: Worker[] } };
keeper.keyhookPasswordThreads ??= { all: new Set(), idle: [] };
const threads = keeper.keyhookPasswordThreads;

/** Hashing takes 30 ms, which would delay every page (S137). libuv's threads are not used, because they also read files. */
async function inThread<T>(task: PasswordTask): Promise<T> {
  try {
    // The thread may have ended while it was idle.
    return await runOnThread<T>(task).catch(() => runOnThread<T>(task));
  } catch (error) {
    log().error({ err: error }, "a password could not be hashed or compared");
    throw new ServiceError("unavailable", "The service is overloaded. Try again in a moment.", {
      retryAfterSeconds: 5,
    });
  }
}

async function runOnThread<T>(task: PasswordTask): Promise<T> {
  const waiting = new AbortController();
  const thread = takeThread();
  try {
    const gone = once(thread, "exit", waiting).then(() => Promise.reject(new Error("the thread for passwords ended")));
    gone.catch(() => undefined);
    const answered = once(thread, "message", waiting);
    thread.postMessage(task);
    const [answer] = await Promise.race([answered, gone]);
    threads.idle.push(thread);
    return answer;
  } finally {
    waiting.abort();
    thread.unref();
  }
}

function takeThread(): Worker {
  while (threads.all.size < THREADS) threads.idle.unshift(startThread());
  const thread = threads.idle.pop() ?? startThread();
  thread.ref();
  return thread;
}

function startThread(): Worker {
  const thread = new Worker(sourcePath("core/accounts/passwords/password-thread.ts"), { execArgv: [] });
  threads.all.add(thread);
  // Without a listener, an error would end this process.
  thread
    .on("error", () => undefined)
    .once("exit", () => {
      threads.all.delete(thread);
      threads.idle = threads.idle.filter((each) => each !== thread);
    });
  thread.unref();
  return thread;
}

export async function hashPassword(password: string): Promise<string> {
  return hashing.run(() => inThread<string>({ password: normalized(password) }));
}

let decoy: Promise<string> | undefined;

/**
 * Without a hash, a decoy is verified, so that the time is the same (S115).
 * @param within the account as typed, whether or not it exists, so that attempts from one address take turns by account
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
  within: string,
): Promise<boolean> {
  // Takes no slot, because a full queue must not refuse the decoy.
  decoy ??= inThread<string>({ password: newToken() });
  const decoyHash = await decoy.catch((error: unknown) => {
    decoy = undefined;
    throw error;
  });
  const isRight = await hashing.run(
    () => inThread<boolean>({ password: normalized(password), hash: passwordHash || decoyHash }),
    {
      within,
    },
  );
  return isRight && Boolean(passwordHash);
}

export function isOutdatedHash(passwordHash: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(passwordHash);
  return memoryCost !== ARGON2.memoryCost || timeCost !== ARGON2.timeCost || parallelism !== ARGON2.parallelism;
}

/** A password typed on two keyboards must match (NIST SP 800-63B §5.1.1.2). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
