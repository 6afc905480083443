import type { EventScope, WebhookPayload } from "@keyhook/sdk";

/** Replaces `Request`, because creating one for each request would cost more than all other work. */
export type IncomingRequest = {
  method: string;
  url: string;
  /** The path, still encoded, without the query. */
  path: string;
  header(name: string): string | undefined;
  headers(): Headers;
  /** @throws RefusedError 413 if the body is larger, 408 if it takes longer */
  body(limits: { maxBytes: number; timeoutMs: number }): Promise<Uint8Array>;
  /** Absent if the server does not know the visitor's address. */
  remoteAddress?: string | undefined;
  /** Has no body if the request came from a Node server or a relay. */
  asRequest(): Request;
};

export type Answer = { status: number; body: string; headers?: Record<string, string> };

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  body: JSON.stringify(value) ?? "null",
  headers: { "content-type": "application/json", ...headers },
});

export class RefusedError extends Error {
  readonly answer: Answer;
  constructor(status: number, sentence: string, headers: Record<string, string> = {}) {
    super(sentence);
    this.answer = json(status, { error: sentence }, headers);
  }
}

/**
 * Counts the bytes, because `Content-Length` may be wrong. Refuses a slow body too (slow loris).
 * @throws RefusedError 413 if the body is too large, 408 if the body is too slow
 */
export async function readBody(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, timeoutMs, promised }: { maxBytes: number; timeoutMs: number; promised: string | undefined },
): Promise<Uint8Array> {
  if (Number(promised) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const iterator = source[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), timeoutMs);
  });
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), late]);
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

export const tooSlow = () => new RefusedError(408, "The body took too long to arrive.", { connection: "close" });

export const tooLarge = (maxBytes: number) =>
  new RefusedError(413, `The body is larger than the ${maxBytes} bytes that this receiver accepts (maxBodyBytes).`, {
    connection: "close",
  });

type Problem = { loc: string[]; msg: string; type: string };

/** Returns the payload, or a refusal (422) with the errors. Unknown scopes and fields are accepted. */
export function parsePayload(
  contentType: string | undefined,
  body: Uint8Array,
): { payload: WebhookPayload } | { refused: Answer } {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "")) {
    return refused([
      { loc: ["header", "content-type"], msg: "Send JSON, with content-type: application/json", type: "content_type" },
    ]);
  }
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return refused([{ loc: ["body"], msg: "This is not JSON", type: "json_invalid" }]);
  }
  const problems = [
    ...["event.scope", "event.action", "repo.type", "repo.name"]
      .filter((path) => typeof at(payload, path) !== "string")
      .map(missing),
    ...(at(payload, "webhook.version") === undefined || at(payload, "webhook.version") === 3
      ? []
      : [{ loc: ["body", "webhook", "version"], msg: "This receiver reads version 3", type: "literal_error" }]),
  ];
  return problems.length > 0 ? refused(problems) : { payload: payload as WebhookPayload };
}

const refused = (detail: Problem[]) => ({ refused: json(422, { detail }) });
const missing = (path: string): Problem => ({
  loc: ["body", ...path.split(".")],
  msg: "A string is required here",
  type: "missing",
});

function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** TypeScript does not narrow a union by a nested field, so `isEvent` does. */
export type PayloadOf<Scope extends EventScope> = Extract<WebhookPayload, { event: { scope: Scope } }>;

/** Narrows a payload to the fields of a scope: `if (isEvent(payload, "repo.content")) payload.updatedRefs`. */
export function isEvent<Scope extends EventScope>(payload: WebhookPayload, scope: Scope): payload is PayloadOf<Scope> {
  return payload.event.scope === scope;
}
