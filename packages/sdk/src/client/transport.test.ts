import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { listenToRelay, type RelayState } from "../relay/listen-to-relay.ts";
import type { RelayAnswer } from "../relay/relayed-request.ts";
import { ApiError } from "./api-error.ts";
import { createClient } from "./create-client.ts";
import type { ClientOptions } from "./transport.ts";

type Answer = (req: http.IncomingMessage, res: http.ServerResponse) => unknown;
let answers: Answer[] = [];
let requests: { method: string; url: string; headers: http.IncomingHttpHeaders; body: string; at: number }[] = [];
let origin: string;
const server = http.createServer(async (req, res) => {
  let body = "";
  for await (const piece of req.setEncoding("utf8")) body += piece;
  requests.push({ method: req.method ?? "", url: req.url ?? "", headers: req.headers, body, at: performance.now() });
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  res.on("error", () => undefined);
  await answer?.(req, res);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = [];
  requests = [];
  // The waits are real, except their jitter.
  vi.spyOn(Math, "random").mockReturnValue(0.01);
  onTestFinished(() => void vi.restoreAllMocks());
});

const client = (options: Partial<ClientOptions> = {}) => createClient({ baseUrl: origin, token: "kh_token", ...options });
const json =
  (status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (_req, res) =>
    res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const ok = json(200, { fine: true });
const reset: Answer = (req) => req.socket.destroy();
const resetWithin: Answer = (req, res) => {
  res.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write('{"fi');
  setImmediate(() => req.socket.destroy());
};
const html: Answer = (_req, res) =>
  res.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Welcome</title>");

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
}

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => expect.unreachable("it was answered"),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe("a request", () => {
  test("sends the token and the request, and parses the response by its schema", async () => {
    answers = [json(200, { name: "ada", more: [1] })];
    const answer = await client({ userAgent: "kite/1.0" }).request("POST", "/api/things?x=1", {
      query: { a: "b c", many: ["1", "2"], none: undefined, nil: null, yes: true },
      body: { text: "kite é" },
      schema: z.object({ name: z.string() }),
    });
    expect(answer).toEqual({ name: "ada" });
    expect(requests[0]).toMatchObject({
      method: "POST",
      url: "/api/things?x=1&a=b+c&many=1&many=2&yes=true",
      body: '{"text":"kite é"}',
      headers: {
        authorization: "Bearer kh_token",
        "content-type": "application/json",
        accept: "application/json",
        "user-agent": "kite/1.0 keyhook-sdk",
      },
    });
  });

  test("is sent only to URLs of the service", async () => {
    answers = [ok];
    const { request } = createClient({ baseUrl: `${origin}/hub/`, token: "kh_token" });
    await request("GET", "/api/x");
    expect(requests[0]?.url).toBe("/hub/api/x");
    for (const path of ["//evil.example/x", "https://evil.example/x", "api/x", ""]) {
      await expect(request("GET", path), path).rejects.toThrow(/begin with one slash/);
    }
    for (const baseUrl of ["", "hub.example.com", "file:///etc/passwd", "javascript:alert(1)"]) {
      expect(() => createClient({ baseUrl }), baseUrl).toThrow(/baseUrl: use the service's URL/);
    }
    expect(() => createClient({ baseUrl: "https://ada:secret@hub.example.com" })).toThrow(/leave out the username and password/);
    for (const name of ["..", ".", ""]) expect(() => client().organizations.get(name), name).toThrow(/neither a name/);
    await client()
      .organizations.get("a/../b?c#d")
      .catch(() => undefined);
    expect(requests.at(-1)?.url).toBe("/api/organizations/a%2F..%2Fb%3Fc%23d/overview");
  });

  test("is not sent with an invalid token, and no message contains that token", async () => {
    for (const token of ["kh_tok\nen", "kh token", "kh_tokén"]) {
      const error = await client({ token })
        .whoami()
        .catch((thrown) => thrown);
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).not.toContain(token);
    }
    expect(requests).toHaveLength(0);
  });

  test("returns undefined for an empty response", async () => {
    answers = [(_req, res) => res.writeHead(204).end()];
    expect(await client().request("DELETE", "/api/x")).toBeUndefined();
  });

  test("follows a redirect only with GET or HEAD", async () => {
    answers = [json(302, {}, { location: "https://other.example/api/x" })];
    const error = await refusal(client().request("POST", "/api/x", { body: { secret: 1 } }));
    expect(error).toMatchObject({
      status: 302,
      code: "redirected",
      message: expect.stringContaining("https://other.example/api/x"),
    });
    answers = [json(301, {}, { location: `${origin}/api/y` }), ok];
    expect(await client().request("GET", "/api/x")).toEqual({ fine: true });
    expect(requests.at(-1)).toMatchObject({ url: "/api/y", headers: { authorization: "Bearer kh_token" } });
    answers = [json(301, {}, { location: `${origin.replace("127.0.0.1", "localhost")}/api/z` }), ok];
    expect(await client().request("GET", "/api/x")).toEqual({ fine: true });
    expect(requests.at(-1)?.url).toBe("/api/z");
    expect(requests.at(-1)?.headers).not.toHaveProperty("authorization");
  });
});

describe("a refusal", () => {
  test.each([
    [
      403,
      { error: "This takes the scope webhooks", code: "insufficient_scope", scope: "webhooks" },
      {},
      {
        code: "insufficient_scope",
        scope: "webhooks",
        message: /^This takes the scope webhooks\. Use a token with the scope webhooks\.$/,
      },
    ],
    [
      404,
      { error: "No such repository.", code: "not_found" },
      { "x-error-code": "RepoNotFound", "x-request-id": "r-1" },
      { code: "RepoNotFound", requestId: "r-1", message: /^No such repository\. \(request r-1\)$/ },
    ],
    [400, { error: "url: use https", code: "invalid_request", field: "url" }, {}, { code: "invalid_request", field: "url" }],
    [401, { error: "No such token" }, {}, { code: "http_401", message: /Sign in again, or give the client a valid token/ }],
    [
      400,
      { error: "invalid_grant", error_description: "code is used up" },
      {},
      { code: "invalid_grant", message: /^code is used up\.$/ },
    ],
    [409, { error: ["odd"], code: 7, scope: null }, {}, { code: "http_409", message: /POST .*\/api\/x failed with status 409/ }],
    [500, "text", {}, { code: "http_500", message: /status 500/ }],
    [
      429,
      { error: "Slower", code: "rate_limited" },
      { "retry-after": "7" },
      { retryAfterSeconds: 7, message: /Try again in 7 s/ },
    ],
  ])("with status %s has the details of the response: %j", async (status, body, headers, facts) => {
    answers = [json(status, body, headers)];
    const { message, ...expected } = { message: /./, ...facts };
    const error = await refusal(client().request("POST", "/api/x"));
    expect(error).toMatchObject({ name: "ApiError", status, ...expected });
    expect(error.message).toMatch(message);
    expect(requests).toHaveLength(1);
  });

  test("is reported in bounded time if it is a proxy's page or has an endless body", async () => {
    answers = [
      (_req, res) => res.writeHead(413, { "content-type": "text/html" }).end("<h1>nope</h1>"),
      (_req, res) => {
        res.writeHead(418);
        const timer = setInterval(() => res.write("x".repeat(64 * 1024)), 1);
        res.on("close", () => clearInterval(timer));
      },
    ];
    expect(await refusal(client().request("GET", "/api/x"))).toMatchObject({ status: 413, code: "http_413" });
    expect(await refusal(client().request("GET", "/api/x"))).toMatchObject({ status: 418, code: "http_418" });
  });
});

describe("an unusable response", () => {
  test.each([
    ["an HTML page", html],
    ["half of an object", (_req: unknown, res: http.ServerResponse) => res.end('{"fine":')],
    ["an object of another form", json(200, { fine: "very" })],
    ["an empty body", (_req: unknown, res: http.ServerResponse) => res.end()],
  ])("%s causes the error unexpected_answer", async (_what, answer) => {
    answers = [answer as Answer];
    const schema = z.object({ fine: z.boolean() });
    expect(await refusal(client().request("GET", "/api/x", { schema }))).toMatchObject({ code: "unexpected_answer" });
    expect(requests).toHaveLength(1);
  });

  test("is read only up to the limit if it never ends", async () => {
    let sent = 0;
    answers = [
      (_req, res) => {
        res.writeHead(200, { "content-type": "application/json" });
        const piece = Buffer.alloc(1024 * 1024, " ");
        const more = () => {
          while (!res.destroyed && res.write(piece)) sent += piece.length;
          if (!res.destroyed) res.once("drain", more);
        };
        more();
      },
    ];
    expect(await refusal(client().request("GET", "/api/x"))).toMatchObject({
      code: "unexpected_answer",
      message: expect.stringContaining("more than 32 MiB"),
    });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

describe("another attempt", () => {
  test.each([
    ["429", json(429, { error: "Slower" })],
    ["502", (_req: unknown, res: http.ServerResponse) => res.writeHead(502).end("<h1>Bad gateway</h1>")],
    ["503", json(503, {})],
    ["504", json(504, {})],
    ["a connection that was reset", reset],
    ["a body that was cut off", resetWithin],
  ] as [string, Answer][])("is made after %s, if the request may be repeated", async (_what, failure) => {
    answers = [failure, failure, ok];
    expect(await client().request("GET", "/api/x")).toEqual({ fine: true });
    expect(requests).toHaveLength(3);
    requests = [];
    answers = [failure, ok];
    await client().request("DELETE", "/api/x");
    await client().request("PUT", "/api/x", { body: {} });
    answers = [failure, ok];
    expect(await client().request("POST", "/api/x", { isIdempotent: true })).toEqual({ fine: true });
    answers = [failure, ok];
    await refusal(client().request("POST", "/api/x"));
    expect(requests.map(({ method }) => method)).toEqual(["DELETE", "DELETE", "PUT", "POST", "POST", "POST"]);
  });

  test("is made a limited number of times, and then the last failure is thrown", async () => {
    answers = [reset, reset, reset, json(503, { error: "Away" })];
    expect(await refusal(client({ maxRetries: 3 }).request("GET", "/api/x"))).toMatchObject({ status: 503 });
    expect(requests).toHaveLength(4);
    expect(await refusal(client({ maxRetries: 0 }).request("GET", "/api/x"))).toMatchObject({ status: 503 });
    expect(requests).toHaveLength(5);
  });

  test.each([400, 401, 403, 404, 409, 500])("is not made after %s", async (status) => {
    answers = [json(status, {})];
    await refusal(client().request("GET", "/api/x"));
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["seconds", () => "1"],
    ["a date", () => new Date(Date.now() + 2_000).toUTCString()],
  ])("waits for as long as Retry-After says in %s", async (_form, value) => {
    answers = [json(503, {}, { "retry-after": value() }), ok];
    await client().request("GET", "/api/x");
    const [first, second] = requests;
    // A date has whole seconds, so two seconds from now can be as little as one.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(950);
  });

  test("is not made if Retry-After is an hour", async () => {
    answers = [json(429, { error: "Tomorrow" }, { "retry-after": "3600" }), ok];
    expect(await refusal(client().request("GET", "/api/x"))).toMatchObject({ status: 429, retryAfterSeconds: 3600 });
    expect(requests).toHaveLength(1);
  });
});

describe("time and signals", () => {
  const never: Answer = () => undefined;
  const drip: Answer = (_req, res) => {
    res.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => res.write(" "), 20);
    res.on("close", () => clearInterval(timer));
  };

  test.each([
    ["no response", never],
    ["a body that drips", drip],
  ])("a request that gets %s ends at its time limit", async (_what, answer) => {
    answers = [answer];
    const error = await refusal(client({ timeoutMs: 100, maxRetries: 1 }).request("GET", "/api/x"));
    expect(error).toMatchObject({
      status: 0,
      code: "timeout",
      message: expect.stringMatching(/no response in time.*timeoutMs/),
    });
    expect(requests).toHaveLength(2);
  });

  test("a signal ends a request, a wait and a stream with the signal's reason", async () => {
    answers = [never];
    const reason = new Error("enough");
    const ended = async (work: (signal: AbortSignal) => Promise<unknown>) => {
      const controller = new AbortController();
      const working = work(controller.signal);
      await vi.waitFor(() => expect(requests.length).toBeGreaterThan(0));
      controller.abort(reason);
      await expect(working).rejects.toBe(reason);
      requests = [];
    };
    await ended((signal) => client().request("GET", "/api/x", { signal }));
    answers = [json(503, {}, { "retry-after": "50" })];
    await ended((signal) => client().request("GET", "/api/x", { signal }));
    answers = [(_req, res) => res.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n")];
    await ended((signal) => all(client().stream("/api/x", { signal })));
    await expect(client().request("GET", "/api/x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toHaveLength(0);
  });

  test("a URL without a server is reported", async () => {
    const spare = http.createServer().listen(0, "127.0.0.1");
    await once(spare, "listening");
    const { port } = spare.address() as AddressInfo;
    await new Promise((closed) => spare.close(closed));
    const error = await refusal(createClient({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 }).whoami());
    expect(error).toMatchObject({ status: 0, code: "network", message: expect.stringContaining("ECONNREFUSED") });
  });
});

describe("a token function", () => {
  test("is called before each request, and once more if its token is refused", async () => {
    const tokens = ["old", "new"];
    const asked: object[] = [];
    const token = vi.fn((what: { refused?: string }) => {
      asked.push(what);
      return tokens[asked.length - 1] ?? "new";
    });
    answers = [
      (req, res) => (req.headers.authorization === "Bearer new" ? ok(req, res) : json(401, { error: "Ended" })(req, res)),
    ];
    expect(await client({ token }).request("POST", "/api/x", { body: { n: 1 } })).toEqual({ fine: true });
    expect(asked).toEqual([{}, { refused: "old" }]);
    expect(requests.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}']);
    expect(await client({ token }).request("GET", "/api/x")).toEqual({ fine: true });
    expect(asked).toHaveLength(3);
  });

  test("ends the request if it returns the refused token again or throws", async () => {
    answers = [json(401, { error: "Ended" })];
    expect(await refusal(client({ token: () => "same" }).request("GET", "/api/x"))).toMatchObject({ status: 401 });
    expect(requests).toHaveLength(1);
    let turn = 0;
    expect(await refusal(client({ token: () => `t${turn++}` }).request("GET", "/api/x"))).toMatchObject({ status: 401 });
    expect(requests).toHaveLength(3);
    const error = new TypeError("the key ring is locked");
    const token = () => Promise.reject(error);
    await expect(client({ token }).request("GET", "/api/x")).rejects.toBe(error);
    expect(requests).toHaveLength(3);
  });
});

describe("pages", () => {
  const schema = z.array(z.number());
  const page = (url: string): Answer => {
    const cursor = Number(new URL(url, origin).searchParams.get("cursor") ?? 0);
    // Behind a proxy, the service may name a URL that this client does not know.
    const link = cursor < 2 ? { link: `<https://hub.example/api/n?cursor=${cursor + 1}&limit=2>; rel="next"` } : undefined;
    return json(200, [cursor * 2, cursor * 2 + 1], link);
  };

  test("are requested one by one, at the client's own URL and with the same token", async () => {
    answers = [(req, res) => page(req.url ?? "")(req, res)];
    const list = client().pages("/api/n", { query: { limit: 2 }, schema });
    expect(requests).toHaveLength(0);
    expect(await all(list)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(requests.map(({ url }) => url)).toEqual(["/api/n?limit=2", "/api/n?cursor=1&limit=2", "/api/n?cursor=2&limit=2"]);
    expect(new Set(requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer kh_token"]));
    expect(await all(list.pages())).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    requests = [];
    for await (const n of list) if (n === 2) break;
    expect(requests).toHaveLength(2);
  });

  test("end if a page leads back to an earlier one", async () => {
    answers = [json(200, [1], { link: '</api/n?cursor=1>; rel="next"' })];
    expect(await all(client().pages("/api/n", { schema }))).toEqual([1, 1]);
  });
});

describe("a stream", () => {
  const events =
    (text: string, ...more: Answer[]): Answer =>
    (req, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).write(text);
      for (const next of more) next(req, res);
    };
  const end: Answer = (_req, res) => res.end();

  test("yields events with their IDs", async () => {
    answers = [events("retry: 3000\n\n: hi\n\nevent: delivery\nid: 7\ndata: {}\n\ndata: a\ndata:  b\n\n", end)];
    expect(await all(client().stream("/api/s", { lastEventId: "6", query: { tail: "x" } }))).toEqual([
      { event: "delivery", data: "{}", id: "7" },
      { event: "message", data: "a\n b", id: "7" },
    ]);
    expect(requests[0]).toMatchObject({ url: "/api/s?tail=x", headers: { "last-event-id": "6", accept: "text/event-stream" } });
  });

  test("causes an error if it falls silent or breaks off", async () => {
    answers = [events("data: 1\n\n")];
    const heard: string[] = [];
    const hear = async (options = {}) => {
      for await (const { data } of client({ maxRetries: 0 }).stream("/api/s", options)) heard.push(data);
    };
    expect(await refusal(hear({ idleMs: 100 }))).toMatchObject({ code: "timeout" });
    answers = [events("data: 2\n\n", (req) => setTimeout(() => req.socket.destroy(), 50))];
    expect(await refusal(hear())).toMatchObject({ code: "network" });
    expect(heard).toEqual(["1", "2"]);
  });

  test("outlives the time limit of a request, and waits for a slow caller", async () => {
    answers = [events("data: 1\n\n", (_req, res) => setTimeout(() => res.end("data: 2\n\n"), 300))];
    const heard: string[] = [];
    for await (const { data } of client({ timeoutMs: 100 }).stream("/api/s", { idleMs: 250 })) {
      heard.push(data);
      if (data === "1") await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect(heard).toEqual(["1", "2"]);
  });

  test("closes its connection when its reader stops", async () => {
    const closed = vi.fn();
    answers = [
      events("data: 1\n\n", (_req, res) => {
        const timer = setInterval(() => res.write("data: 2\n\n"), 5);
        res.on("close", () => {
          clearInterval(timer);
          closed();
        });
      }),
    ];
    for await (const { data } of client().stream("/api/s")) if (data === "2") break;
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1));
  });

  test("is refused like a request", async () => {
    answers = [json(404, { error: "No such webhook.", code: "not_found" })];
    expect(await refusal(all(client().stream("/api/s")))).toMatchObject({ status: 404, code: "not_found" });
  });

  test("of a webhook's activity continues where the connection was cut off, until the token may no longer read it", async () => {
    answers = [
      events("event: reset\nid: a\ndata: {}\n\n", end),
      reset,
      json(503, {}),
      events("event: reset\nid: b\ndata: {}\n\n", (req) => setTimeout(() => req.socket.destroy(), 20)),
      json(404, { error: "Gone", code: "not_found" }),
    ];
    const told: unknown[] = [];
    const error = await refusal(
      (async () => {
        for await (const one of client({ maxRetries: 0 }).webhooks.live("w")) told.push(one);
      })(),
    );
    expect(error.status).toBe(404);
    expect(told).toEqual([
      { kind: "reset", tail: "a" },
      { kind: "reset", tail: "b" },
    ]);
    expect(requests.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "a", "a", "a", "b"]);
  });

  test("fails instead of waiting an hour for Retry-After, and a relay's listener tells its program", async () => {
    answers = [json(503, { error: "Tomorrow." }, { "retry-after": "3600" })];
    const signal = AbortSignal.timeout(2_000);
    expect(await refusal(all(client().webhooks.live("w", { signal })))).toMatchObject({ status: 503, retryAfterSeconds: 3600 });
    const told: RelayState[] = [];
    const listening = new AbortController();
    const onState = (state: RelayState) => {
      told.push(state);
      listening.abort();
    };
    const handle = () => ({ status: 200 }) as RelayAnswer;
    expect(await listenToRelay(client(), { name: "r", handle, onState, signal: listening.signal })).toBe("aborted");
    expect(told).toEqual([{ kind: "lost", reason: "Tomorrow. Try again in 3600 s." }]);
  });

  test.each([
    ["from its beginning", undefined],
    ["from its last lines", 2],
  ])("of a job's log, %s, continues without missing or repeating a line", async (_what, tail) => {
    const line = (n: number) =>
      `data: ${JSON.stringify({ timestamp: "2026-01-01T00:00:00.000Z", data: n === 3 ? "line 2" : `line ${n}` })}\n\n`;
    const job = (stage: string) => json(200, { ...someJob, status: { ...someJob.status, stage } });
    const from = tail ? 3 : 1;
    const lines = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => line(first + at)).join("");
    answers = [
      events(lines(from, 4), (req) => setTimeout(() => req.socket.destroy(), 20)),
      events(lines(1, 5), end),
      job("RUNNING"),
      events(lines(1, 7), end),
      job("COMPLETED"),
    ];
    const heard = await all(client({ maxRetries: 0 }).jobs.logs("j", { organization: "o", tail }));
    const expected = ["line 1", "line 2", "line 2", "line 4", "line 5", "line 6", "line 7"];
    expect(heard.map(({ data }) => data)).toEqual(expected.slice(from - 1));
    expect(requests[0]?.url).toBe(`/api/jobs/o/j/logs${tail ? "?tail=2" : ""}`);
    expect(requests[1]?.url).toBe("/api/jobs/o/j/logs");
  });
});

const someJob = {
  type: "job",
  id: "j",
  attempts: 1,
  createdAt: "",
  startedAt: null,
  finishedAt: null,
  command: [],
  arguments: [],
  environment: {},
  flavor: "cpu-basic",
  network: false,
  timeoutSeconds: 1,
  labels: {},
  status: { stage: "RUNNING", message: null, failureCount: 0, exitCode: null },
  durations: { schedulingSecs: null, runningSecs: null, totalSecs: null },
  owner: { id: "1", name: "o", type: "org" },
  createdBy: { type: "user", userId: "u" },
  initiator: { type: "user", id: "1" },
};
