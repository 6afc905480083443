import type { HandlerOptions, WebhookHandler } from "../receiver-options.ts";
import { WorkQueue } from "./work-queue.ts";

export type RegisteredHandler = {
  name: string;
  handle: WebhookHandler;
  mode: "wait" | "queue";
  timeoutMs: number;
  deduplicate: boolean;
  queue: WorkQueue;
};

const WAIT_MS = 14_000;
const WORK_MS = 10 * 60_000;

/** @throws Error when the name or an option cannot be used */
export function registerHandler(given: string, handle: WebhookHandler, options: HandlerOptions): RegisteredHandler {
  const name = given.replace(/^\/+|(?<!\/)\/+$/g, "");
  if (name === "") {
    throw new Error('A handler without a name has no address. Name the function, or say the name: webhook("on-push", handler).');
  }
  if (name.length > 200 || !name.split("/").every((part) => /^[\w$~.-]+$/.test(part) && !/^\.+$/.test(part))) {
    throw new Error(`A handler cannot be called "${name}": use letters, digits, "-", "_", "." and "/", such as "on-push".`);
  }
  const { mode = "wait", deduplicate = true, maxQueued = 1_000 } = options;
  const timeoutMs = options.timeoutMs ?? (mode === "queue" ? WORK_MS : WAIT_MS);
  const concurrency = options.concurrency ?? (mode === "queue" ? 1 : Number.POSITIVE_INFINITY);
  if (!(concurrency >= 1)) throw new Error(`Handler "${name}": concurrency is at least 1.`);
  if (!(maxQueued >= 0)) throw new Error(`Handler "${name}": maxQueued is at least 0.`);
  if (!(timeoutMs > 0)) throw new Error(`Handler "${name}": timeoutMs is more than 0.`);
  return { name, handle, mode, timeoutMs, deduplicate, queue: new WorkQueue({ concurrency, maxQueued }) };
}
