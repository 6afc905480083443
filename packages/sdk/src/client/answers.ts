import type { z } from "zod";
import { ApiError, unexpectedContent } from "./api-error.ts";

/** Reads at most `limit` bytes. `isCut` says that there was more text. */
export async function readText(response: Response, limit: number): Promise<{ text: string; isCut: boolean }> {
  const reader = response.body?.getReader();
  if (!reader) return { text: await response.text(), isCut: false };
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > limit) {
      // The cancellation is not awaited, because it may never finish while the server keeps sending.
      reader.cancel().catch(() => undefined);
      return { text: pieces.join(""), isCut: true };
    }
    pieces.push(decoder.decode(value, { stream: true }));
  }
  return { text: pieces.join("") + decoder.decode(), isCut: false };
}

export function check<T>(schema: z.ZodType<T>, value: unknown, asked: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join(".") || "the whole body";
  throw unexpectedContent(
    `The response to ${asked} was unexpected (${where}: ${issue?.message}). Use the SDK version that matches the service.`,
    result.error,
  );
}

/** An unexpected response is, for example, a web page: `baseUrl` is probably not the URL of the service. */
export function unexpected(asked: string, what: string, { status, headers }: Response, cause?: unknown): ApiError {
  const requestId = headers.get("x-request-id") ?? undefined;
  return new ApiError(`The response to ${asked} was ${what}. Check that baseUrl is the URL of the service.`, {
    status,
    code: "unexpected_answer",
    requestId,
    cause,
  });
}

export function redirected({ status, headers }: Response, asked: string): ApiError {
  const to = headers.get("location");
  return new ApiError(`${asked} was redirected${to ? ` to ${to}` : ""}. Check that baseUrl is the URL of the service.`, {
    status,
    code: "redirected",
  });
}

export function failure(error: unknown, asked: string, deadline: Deadline): ApiError {
  if (deadline.isOver()) {
    return new ApiError(`${asked} got no response in time. Try again, or allow more time with timeoutMs.`, {
      status: 0,
      code: "timeout",
      cause: error,
    });
  }
  return new ApiError(`${asked} could not be sent (${reasonOf(error)}). Check the URL and the network.`, {
    status: 0,
    code: "network",
    cause: error,
  });
}

/** The message `fetch failed` does not contain the reason, but the error's cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const { code } = cause as { code?: unknown };
  return cause.message || String(code ?? cause.name);
}

export type Deadline = ReturnType<typeof startDeadline>;

/**
 * Replaces `AbortSignal.any`, which the oldest supported runtimes lack, and which leaves a listener on a long-lived signal for each
 * request.
 */
export function startDeadline(ms: number, outer?: AbortSignal) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const onAbort = () => controller.abort(outer?.reason);
  const restart = (next: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOver = true;
      controller.abort(new DOMException("The time limit was reached", "TimeoutError"));
    }, next);
  };
  if (outer?.aborted) onAbort();
  else {
    outer?.addEventListener("abort", onAbort, { once: true });
    restart(ms);
  }
  return {
    signal: controller.signal,
    isOver: () => isOver,
    restart,
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}

/** The signal of one caller ends only that caller's wait, not the shared work. */
export function orAborted<T>(value: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return value;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
