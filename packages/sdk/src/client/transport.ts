import type { z } from "zod";
import { ApiError, errorOfAnswer } from "./api-error.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { EventStreamParser, type ServerSentEvent } from "./event-stream.ts";
import { type Paged, paged } from "./paged.ts";
import { readText } from "./read-body.ts";
import { delayBeforeRetry, isWorthRetrying, sleep } from "./retry.ts";

/**
 * A token, or what gives one: asked before each request, and once more with the token that was `refused` when the service answers 401.
 */
export type TokenSource = string | ((asked: { refused?: string }) => string | undefined | Promise<string | undefined>);

export type ClientOptions = {
  /** Where the service is: `https://hub.example.com`. */
  baseUrl: string;
  /** Without one, what everybody may see. */
  token?: TokenSource | undefined;
  /** In place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Said to the service in front of the SDK's own name, where the runtime lets it be said: browsers do not. */
  userAgent?: string | undefined;
  /** How long an attempt may take, its body included. Default 30,000. */
  timeoutMs?: number | undefined;
  /** How often a request is sent again that failed and may be repeated. Default 3; 0 for never. */
  maxRetries?: number | undefined;
};

export type Query = Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>;

export type SendOptions = {
  query?: Query | undefined;
  /** Sent as JSON; `URLSearchParams` as a form. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** Of a POST or PATCH which may be sent twice without harm: then it is tried again as others are. */
  isIdempotent?: boolean | undefined;
};
export type RequestOptions<T> = SendOptions & {
  /** What the answer is checked against; without it, it is given as it came. */
  schema?: z.ZodType<T> | undefined;
};
export type StreamOptions = {
  query?: Query | undefined;
  signal?: AbortSignal | undefined;
  lastEventId?: string | undefined;
  headers?: Record<string, string> | undefined;
  /** How long the stream may be silent before it is taken for dead, heartbeats included. Default 60,000. */
  idleMs?: number | undefined;
};

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What every resource of the client is written with. */
export type Transport = {
  readonly baseUrl: string;
  /**
   * JSON in and out. `undefined` of an answer without a body.
   * @param path from the root, with its parts encoded: `/api/whoami-v2`
   * @throws ApiError; what `signal` was aborted with
   */
  request<T>(method: Method, path: string, options?: RequestOptions<T>): Promise<T>;
  /** Server-sent events of one connection: it ends with it. What comes again by itself is written with this, as `jobs.logs` is. */
  stream(path: string, options?: StreamOptions): AsyncIterable<ServerSentEvent>;
  /** The bytes of an answer as they come. */
  bytes(path: string, options?: SendOptions): AsyncIterable<Uint8Array>;
  /** A list whose header `Link` names the next page (RFC 8288). */
  pages<T>(
    path: string | (() => Promise<string>),
    options: { query?: Query; schema: z.ZodType<T[]>; signal?: AbortSignal | undefined },
  ): Paged<T>;
};

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
const IDLE_MS = 60_000;
/** Of an answer in JSON, and of an error. */
const JSON_MAX_BYTES = 32 * 1024 * 1024;
const ERROR_MAX_BYTES = 64 * 1024;
const FORM = "application/x-www-form-urlencoded";
const IDEMPOTENT = new Set<Method>(["GET", "HEAD", "PUT", "DELETE"]);

/** What a token function threw is its caller's to know as it is: no failure of the network. */
class TokenFailure extends Error {
  constructor(cause: unknown) {
    super("no token", { cause });
  }
}

export function createTransport(options: ClientOptions): Transport {
  const { origin: baseUrl, base } = readBaseUrl(options.baseUrl);
  const { token, timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES } = options;
  // In browsers the header would make every request one that asks beforehand (CORS), for nothing.
  const userAgent = isBrowser() ? options.userAgent : [options.userAgent, "keyhook-sdk"].filter(Boolean).join(" ");
  // Called without `this`: a browser's own refuses another.
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));

  async function tokenFor(refused?: string): Promise<string | undefined> {
    if (typeof token !== "function") return token;
    try {
      return await token(refused === undefined ? {} : { refused });
    } catch (cause) {
      throw new TokenFailure(cause);
    }
  }

  /** One answer that is 2xx, given to `use` with what keeps its time. */
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
        // A redirect would make a GET of a POST without a word; no body goes to another address than the one that was named.
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
          throw unexpected(asked, "what is not JSON", response, cause);
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
        const piece = await reader?.read();
        // While the caller works on what came, time does not run.
        deadline.restart(2 ** 31 - 1);
        if (!piece || piece.done) return;
        yield piece.value;
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
      for await (const piece of read(path, sent, idleMs)) yield* parser.push(decoder.decode(piece, { stream: true }));
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

function readBaseUrl(text: string): { origin: string; base: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl: write where the service is, such as https://hub.example.com, not ${JSON.stringify(text)}`);
  }
  if (url.username || url.password) throw new TypeError("baseUrl: leave out the name and password, and give `token`");
  const base = url.origin + url.pathname.replace(/(?<!\/)\/+$/, "");
  return { origin: base, base };
}

function addressOf(base: string, path: string, query: Query = {}): URL {
  // `//host` and `https://host` would send the token elsewhere.
  if (!/^\/(?!\/)/.test(path)) throw new TypeError(`path: begin with one slash, not ${JSON.stringify(path)}`);
  const url = new URL(base + path);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of [value].flat()) url.searchParams.append(name, String(one));
  }
  return url;
}

const isBrowser = (): boolean => /^Mozilla\//.test(globalThis.navigator?.userAgent ?? "");

function headersOf(sent: SendOptions, bearer: string | undefined, userAgent: string | undefined): Headers {
  // The value itself is in no message: errors end in logs.
  if (bearer !== undefined && !/^[\x21-\x7e]*$/.test(bearer)) {
    throw new TokenFailure(new TypeError("token: it has spaces, line ends or other characters that no token has"));
  }
  const headers = new Headers({ accept: "application/json" });
  if (userAgent) headers.set("user-agent", userAgent);
  if (bearer) headers.set("authorization", `Bearer ${bearer}`);
  if (sent.body !== undefined) headers.set("content-type", sent.body instanceof URLSearchParams ? FORM : "application/json");
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name, value);
  return headers;
}

/** The next page of a list, without the origin: the service may know itself by another than the one that it is reached by. */
function nextOf(link: string | null): string | undefined {
  const address = /<([^<>]+)>\s*;\s*rel="?next"?/i.exec(link ?? "")?.[1];
  if (!address) return undefined;
  const { pathname, search } = new URL(address, "http://relative.invalid");
  return pathname + search;
}

function check<T>(schema: z.ZodType<T>, value: unknown, asked: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join(".") || "the whole";
  throw new ApiError(
    `${asked} was answered with something else than expected (${where}: ${issue?.message}). Use an SDK of the service's version.`,
    {
      status: 200,
      code: "unexpected_answer",
      cause: result.error,
    },
  );
}

function unexpected(asked: string, what: string, { status, headers }: Response, cause?: unknown): ApiError {
  const requestId = headers.get("x-request-id") ?? undefined;
  return new ApiError(`${asked} was answered with ${what}. Check that baseUrl is the address of the service.`, {
    status,
    code: "unexpected_answer",
    requestId,
    cause,
  });
}

function redirected({ status, headers }: Response, asked: string): ApiError {
  const to = headers.get("location");
  return new ApiError(`${asked} was redirected${to ? ` to ${to}` : ""}. Use the address that it leads to as baseUrl.`, {
    status,
    code: "redirected",
  });
}

function failure(error: unknown, asked: string, deadline: Deadline): ApiError {
  if (deadline.isOver()) {
    return new ApiError(`${asked} was not answered in time. Try again, or give it longer with timeoutMs.`, {
      status: 0,
      code: "timeout",
      cause: error,
    });
  }
  return new ApiError(`${asked} failed on the way (${reasonOf(error)}). Check the address and the network.`, {
    status: 0,
    code: "network",
    cause: error,
  });
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  const { code } = cause as { code?: unknown };
  return cause.message || String(code ?? cause.name);
}
