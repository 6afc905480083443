import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { parseOptions } from "@node-rs/argon2";
import { newToken } from "../../crypto/token.ts";
import { ServiceError } from "../../errors.ts";
import { fairQueue } from "../../fair-queue/fair-queue.ts";
import { log } from "../../log.ts";
import { sourcePath } from "../../source-path.ts";
import { ARGON2 } from "./argon2.ts";
import type { PasswordQuestion } from "./password-thread.ts";

const PLACES = 2;

/**
 * Right passwords count against no limit, so that a few accounts could keep the processor busy. One party has one place at a time.
 * Nearly everybody here is not signed in yet, and is an address.
 */
const places = fairQueue({ name: "passwords", places: PLACES, anonymousShare: 1, waitingMax: 256, waitMaxMs: 20_000 });

// One for the process: each bundle of Next makes its own module instances (ARCHITECTURE.md, Processes).
const keeper = globalThis as typeof globalThis & { keyhookPasswordThreads?: { all: Set<Worker>; idle: Worker[] } };
keeper.keyhookPasswordThreads ??= { all: new Set(), idle: [] };
const threads = keeper.keyhookPasswordThreads;

/**
 * Asks a thread that gives way to others: 30 ms of processor time for each wrong password would otherwise delay every page (S137).
 * libuv's own threads, which the library would use, are those that files and names wait for.
 */
async function inThread<T>(question: PasswordQuestion): Promise<T> {
  try {
    // Whatever ended one thread may have ended the one beside it, which is not known yet: each place is tried once.
    return await askThread<T>(question).catch(() => askThread<T>(question));
  } catch (error) {
    log().error({ err: error }, "a password could not be hashed or compared");
    throw new ServiceError("unavailable", "The service is overloaded at the moment. Try again shortly.", {
      retryAfterSeconds: 5,
    });
  }
}

async function askThread<T>(question: PasswordQuestion): Promise<T> {
  const waiting = new AbortController();
  const thread = takeThread();
  try {
    const gone = once(thread, "exit", waiting).then(() => Promise.reject(new Error("the thread for passwords ended")));
    gone.catch(() => undefined);
    const answered = once(thread, "message", waiting);
    thread.postMessage(question);
    const [answer] = await Promise.race([answered, gone]);
    threads.idle.push(thread);
    return answer;
  } finally {
    waiting.abort();
    thread.unref();
  }
}

/** The first password starts one thread for each place, so that later ones do not wait for a thread to start. */
function takeThread(): Worker {
  while (threads.all.size < PLACES) threads.idle.unshift(startThread());
  const thread = threads.idle.pop() ?? startThread();
  thread.ref();
  return thread;
}

function startThread(): Worker {
  const thread = new Worker(sourcePath("core/accounts/passwords/password-thread.ts"), { execArgv: [] });
  threads.all.add(thread);
  // Without a listener an error would end this process. A thread that ended while it was idle must not be asked again.
  thread
    .on("error", () => undefined)
    .once("exit", () => {
      threads.all.delete(thread);
      threads.idle = threads.idle.filter((each) => each !== thread);
    });
  thread.unref();
  return thread;
}

/** @throws ServiceError `unavailable` when many others wait */
export async function hashPassword(password: string): Promise<string> {
  return places.run(() => inThread<string>({ password: normalized(password) }));
}

let decoy: Promise<string> | undefined;

/**
 * Whether the password is the one that was hashed. Without a hash (no such account, or one that has no password) the same work
 * is done against a decoy, so that the time does not tell (S115).
 * @param within what the attempt is for, as it was typed. Attempts of one address take turns by it, so that nobody waits behind a
 * stranger's attempts from the same network. It must not depend on whether there is such an account.
 * @throws ServiceError `unavailable` when many others wait
 */
export async function verifyPassword(
  passwordHash: string | null | undefined,
  password: string,
  within: string,
): Promise<boolean> {
  // Made once, and without a place: a full queue must not refuse it.
  decoy ??= inThread<string>({ password: newToken() });
  const decoyHash = await decoy.catch((error: unknown) => {
    decoy = undefined;
    throw error;
  });
  const isRight = await places.run(() => inThread<boolean>({ password: normalized(password), hash: passwordHash || decoyHash }), {
    within,
  });
  return isRight && Boolean(passwordHash);
}

/** Whether a stored hash was made with other parameters than today's. */
export function isOutdatedHash(passwordHash: string): boolean {
  const { memoryCost, timeCost, parallelism } = parseOptions(passwordHash);
  return memoryCost !== ARGON2.memoryCost || timeCost !== ARGON2.timeCost || parallelism !== ARGON2.parallelism;
}

/** One password typed on two keyboards is the same one (NIST SP 800-63B §5.1.1.2 asks for NFKC or NFKD). */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
