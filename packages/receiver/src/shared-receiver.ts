import { createReceiver, type Receiver } from "./create-receiver.ts";
import { environment } from "./environment.ts";
import type { HandlerOptions, WebhookHandler } from "./receiver-options.ts";
import type { Launched, LaunchOptions } from "./serve/launch.ts";

/**
 * The receiver starts this long after the last handler was registered, or earlier when nothing else keeps the process alive. A
 * receiver does not start if it was mounted, or in a test runner.
 */
const AFTER_MS = 1_000;
let shared: Receiver | undefined;
let launched: Promise<Launched> | undefined;
let isByHand = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Registers a handler of the shared server, at `/webhooks/<name>`.
 * @returns the same handler
 * @throws Error if there is no name, or another handler has the name
 */
export function webhook<Handler extends WebhookHandler>(handler: Handler, options?: HandlerOptions): Handler;
export function webhook<Handler extends WebhookHandler>(name: string, handler: Handler, options?: HandlerOptions): Handler;
export function webhook(
  first: string | WebhookHandler,
  second?: WebhookHandler | HandlerOptions,
  third?: HandlerOptions,
): WebhookHandler {
  shared ??= createReceiver();
  if (typeof first === "string") shared.on(first, second as WebhookHandler, third);
  else shared.on(first, second as HandlerOptions);
  startAtTheEnd();
  return typeof first === "string" ? (second as WebhookHandler) : first;
}

/** The shared receiver, to mount into another server. After this call, it does not start by itself. */
export function sharedReceiver(): Receiver {
  takeOver();
  shared ??= createReceiver();
  return shared;
}

/** Starts the shared server now, with options. */
export function launch(options?: LaunchOptions): Promise<Launched> {
  if (launched)
    throw new Error("The receiver has already started. Call launch() only once, and before the script waits for anything else.");
  launched = sharedReceiver().launch(options);
  return launched;
}

let isWaiting = false;
function startAtTheEnd(): void {
  if (isByHand || launched || environment.isTestRun() || typeof process === "undefined" || typeof process.once !== "function")
    return;
  if (!isWaiting) process.once("beforeExit", start);
  isWaiting = true;
  clearTimeout(timer);
  timer = setTimeout(start, AFTER_MS);
  timer.unref?.();
}

function start(): void {
  if (isByHand || launched || !shared) return;
  const receiver = shared;
  stopWaiting();
  launched = receiver.launch();
  launched.catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}

function takeOver(): void {
  isByHand = true;
  stopWaiting();
}

function stopWaiting(): void {
  clearTimeout(timer);
  globalThis.process?.removeListener?.("beforeExit", start);
}
