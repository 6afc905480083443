import type { z } from "zod";
import { addressOf, nextOf, readBaseUrl } from "./addresses.ts";
import { check, type Deadline, failure, readText, redirected, startDeadline, unexpected } from "./answers.ts";
import { ApiError, errorOfAnswer } from "./api-error.ts";
import { EventStreamParser, type ServerSentEvent } from "./event-stream.ts";
import { type Paged, paged } from "./paged.ts";
import { delayBeforeRetry, isWorthRetrying, sleep } from "./reconnecting.ts";

/**
 * A token, or a function that returns one. The function is called before each request, and once more after a 401, with the token that the
 * service refused. {@link keepTokens} creates such a function.
 * @group Client
 */
export type TokenSource = string | ((asked: { refused?: string }) => string | undefined | Promise<string | undefined>);

/** Options of {@link createClient}. @group Client */
export type ClientOptions = {
  /** The service's address, `https://hub.example.com`. */
  baseUrl: string;
  /** Without a token, the client sees only public data. */
  token?: TokenSource | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Precedes the SDK's own name in the `User-Agent` header. Some browsers send their own value instead. */
  userAgent?: string | undefined;
  /** The time limit of one attempt with its body, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** How many times a failed request that may be repeated is sent again. Default 3; 0 for never. */
  maxRetries?: number | undefined;
};

/** Query parameters. `null` and `undefined` are left out; a list repeats the parameter. @group Client */
export type Query = Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>;

/** Options of a request. @group Client */
export type SendOptions = {
  query?: Query | undefined;
  /** The body, which is sent as JSON; `URLSearchParams` are sent as a form. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Whether a POST or PATCH may be sent twice without harm. Then it is attempted again like a GET. */
  isIdempotent?: boolean | undefined;
};
/** Options of {@link Transport.request}. @group Client */
export type RequestOptions<T> = SendOptions & {
  /** A zod schema that the response must match. Without it, the response is returned unchecked. */
  schema?: z.ZodType<T> | undefined;
};
/** Options of {@link Transport.stream}. @group Client */
export type StreamOptions = {
  query?: Query | undefined;
  signal?: AbortSignal | undefined;
  lastEventId?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** The time without any data, even a ping, after which the stream counts as lost, in milliseconds. Default 60,000. */
  idleMs?: number | undefined;
};

/** An HTTP method. @group Client */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The part of {@link Client} that sends requests. Every operation of the client uses it. @group Client */
export type Transport = {
  /** The service's address. */
  readonly baseUrl: string;
  /**
   * Sends a request and reads the response as JSON.
   * @param method The HTTP method.
   * @param path The path from the root, with encoded parts: `/api/whoami-v2`.
   * @param options The query, the body, and a schema of the response.
   * @returns The parsed response; `undefined` if it has no body.
   * @throws {@link ApiError}; after an abort, the signal's reason.
   */
  request<T>(method: Method, path: string, options?: RequestOptions<T>): Promise<T>;
  /** Reads the server-sent events of one connection, and ends with it. {@link reconnecting} continues a stream across connections. */
  stream(path: string, options?: StreamOptions): AsyncIterable<ServerSentEvent>;
  /** Reads the bytes of a response as they arrive. */
  bytes(path: string, options?: SendOptions): AsyncIterable<Uint8Array>;
  /** Reads a list whose `Link` header names the next page (RFC 8288). */
  pages<T>(
    path: string | (() => Promise<string>),
    options: { query?: Query; schema: z.ZodType<T[]>; signal?: AbortSignal | undefined },
  ): Paged<T>;
};

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
const IDLE_MS = 60_000;
const JSON_MAX_BYTES = 32 * 1024 * 1024;
const ERROR_MAX_BYTES = 64 * 1024;
const FORM = "application/x-www-form-urlencoded";
const IDEMPOTENT = new Set<Method>(["GET", "HEAD", "PUT", "DELETE"]);

/** The caller gets the token function's own error, not a failure of the network. */
class TokenFailure extends Error {
  constructor(cause: unknown) {
    super("no token", { cause });
  }
}

export function createTransport(options: ClientOptions): Transport {
  const { origin: baseUrl, base } = readBaseUrl(options.baseUrl);
  const { token, timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES } = options;
  // In browsers the header would cost a CORS preflight for every request.
  const userAgent = isBrowser() ? options.userAgent : [options.userAgent, "keyhook-sdk"].filter(Boolean).join(" ");
  // A browser's `fetch` throws if it is called as a method of another object.
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));

  async function tokenFor(refused?: string): Promise<string | undefined> {
    if (typeof token !== "function") return token;
    try {
      return await token(refused === undefined ? {} : { refused });
    } catch (cause) {
      throw new TokenFailure(cause);
    }
  }

  /** Passes a 2xx response to `use`, with the running deadline. */
  async function attempt<T>(
    method: Method,
    path: string,
    sent: SendOptions,
    use: (response: Response, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const url = addressOf(base, path, sent.query);
    const asked = `${method} ${url.origin}${url.pathname}`;
    const deadline = startDeadline(sent.timeoutMs ?? timeoutMs, sent.signal);
    let isKept = false;
    let status = 0;
    const send = (bearer: string | undefined) =>
      doFetch(url, {
        method,
        headers: headersOf(sent, bearer, userAgent),
        ...(sent.body !== undefined && {
          body: sent.body instanceof URLSearchParams ? sent.body.toString() : JSON.stringify(sent.body),
        }),
        // `fetch` would turn a POST into a GET on a redirect. A body must go only to the URL that the caller named.
        redirect: method === "GET" || method === "HEAD" ? "follow" : "manual",
        signal: deadline.signal,
      });
    try {
      const bearer = await tokenFor();
      let response = await send(bearer);
      if (response.status === 401 && typeof token === "function") {
        const other = await tokenFor(bearer ?? "");
        if (other !== undefined && other !== bearer) {
          await readText(response, ERROR_MAX_BYTES);
          response = await send(other);
        }
      }
      status = response.status;
      if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) throw redirected(response, asked);
      if (!response.ok) throw errorOfAnswer(response, (await readText(response, ERROR_MAX_BYTES)).text, asked);
      isKept = true;
      return await use(response, deadline);
    } catch (error) {
      deadline.stop();
      if (error instanceof TokenFailure) throw error.cause;
      if (error instanceof ApiError) throw error;
      if (sent.signal?.aborted) throw sent.signal.reason;
      throw failure(error, asked, deadline);
    } finally {
      if (!isKept) deadline.stop();
    }
  }

  async function retrying<T>(method: Method, sent: SendOptions, once: () => Promise<T>): Promise<T> {
    const retries = (sent.isIdempotent ?? IDEMPOTENT.has(method)) ? maxRetries : 0;
    for (let failed = 1; ; failed += 1) {
      try {
        return await once();
      } catch (error) {
        if (failed > retries || !isWorthRetrying(error)) throw error;
        await sleep(delayBeforeRetry(failed, error.retryAfterSeconds), sent.signal);
      }
    }
  }

  async function answer(method: Method, path: string, sent: SendOptions): Promise<{ value: unknown; headers: Headers }> {
    return retrying(method, sent, () =>
      attempt(method, path, sent, async (response, deadline) => {
        const { text, isCut } = await readText(response, JSON_MAX_BYTES);
        deadline.stop();
        const asked = `${method} ${path}`;
        if (isCut) throw unexpected(asked, `more than ${JSON_MAX_BYTES / 1024 / 1024} MiB`, response);
        if (text === "" || method === "HEAD") return { value: undefined, headers: response.headers };
        try {
          return { value: JSON.parse(text), headers: response.headers };
        } catch (cause) {
          throw unexpected(asked, "something other than JSON", response, cause);
        }
      }),
    );
  }

  async function* read(path: string, sent: SendOptions, idleMs: number): AsyncGenerator<Uint8Array> {
    const { response, deadline } = await retrying("GET", sent, () =>
      attempt("GET", path, sent, async (response, deadline) => ({ response, deadline })),
    );
    const reader = response.body?.getReader();
    try {
      for (;;) {
        deadline.restart(idleMs);
        const chunk = await reader?.read();
        // The deadline pauses while the caller works on the chunk.
        deadline.restart(2 ** 31 - 1);
        if (!chunk || chunk.done) return;
        yield chunk.value;
      }
    } catch (error) {
      if (sent.signal?.aborted) throw sent.signal.reason;
      throw failure(error, `GET ${path}`, deadline);
    } finally {
      deadline.stop();
      reader?.cancel().catch(() => undefined);
    }
  }

  return {
    baseUrl,
    async request<T>(method: Method, path: string, { schema, ...sent }: RequestOptions<T> = {}): Promise<T> {
      const { value } = await answer(method, path, sent);
      return schema ? check(schema, value, `${method} ${path}`) : (value as T);
    },
    async *stream(path, { query, signal, lastEventId, headers, idleMs = IDLE_MS } = {}) {
      const sent = {
        query,
        signal,
        headers: { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }), ...headers },
      };
      const decoder = new TextDecoder();
      const parser = new EventStreamParser();
      for await (const chunk of read(path, sent, idleMs)) yield* parser.push(decoder.decode(chunk, { stream: true }));
    },
    bytes: (path, sent = {}) => read(path, sent, sent.timeoutMs ?? timeoutMs),
    pages(path, { query, schema, signal }) {
      return paged(async (next) => {
        const address = next ?? (typeof path === "string" ? path : await path());
        const { value, headers } = await answer("GET", address, next ? { signal } : { query, signal });
        return { items: check(schema, value, `GET ${address.split("?")[0]}`), next: nextOf(headers.get("link")) };
      });
    },
  };
}

const isBrowser = (): boolean => /^Mozilla\//.test(globalThis.navigator?.userAgent ?? "");

function headersOf(sent: SendOptions, bearer: string | undefined, userAgent: string | undefined): Headers {
  // Errors end up in logs, so the message omits the token.
  if (bearer !== undefined && !/^[\x21-\x7e]*$/.test(bearer)) {
    throw new TokenFailure(new TypeError("token: it contains spaces, line ends or other characters that no token has"));
  }
  const headers = new Headers({ accept: "application/json" });
  if (userAgent) headers.set("user-agent", userAgent);
  if (bearer) headers.set("authorization", `Bearer ${bearer}`);
  if (sent.body !== undefined) headers.set("content-type", sent.body instanceof URLSearchParams ? FORM : "application/json");
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name, value);
  return headers;
}
