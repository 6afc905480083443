import type { WebhookPayload } from "@keyhook/sdk";
import type { DeliveryContext } from "./delivery-context.ts";
import { type Answer, json } from "./incoming-request.ts";
import type { RegisteredHandler } from "./registered-handler.ts";

/** Runs it, until its time is over: then its signal is aborted, and the delivery has failed whatever it does from there on. */
export async function runHandler(
  handler: RegisteredHandler,
  payload: WebhookPayload,
  contextWith: (signal: AbortSignal) => DeliveryContext,
  ending: AbortSignal,
): Promise<Answer> {
  const aborting = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onEnding: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    const give = (message: string) => {
      const error = new Error(message);
      aborting.abort(error);
      reject(error);
    };
    timer = setTimeout(() => give(`Handler "${handler.name}" ran for more than ${handler.timeoutMs} ms.`), handler.timeoutMs);
    onEnding = () => give(`The receiver stopped before handler "${handler.name}" was done.`);
    ending.addEventListener("abort", onEnding, { once: true });
  });
  over.catch(() => undefined);
  try {
    // Within the promise: a handler that is not async may throw at once.
    const result = await Promise.race([(async () => handler.handle(payload, contextWith(aborting.signal)))(), over]);
    if (result instanceof Response) {
      return { status: result.status, body: await result.text(), headers: Object.fromEntries(result.headers) };
    }
    return json(200, result ?? null);
  } finally {
    clearTimeout(timer);
    if (onEnding) ending.removeEventListener("abort", onEnding);
  }
}
