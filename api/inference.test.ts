import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import OpenAI, { APIError } from "openai";
import { afterAll, beforeEach, expect, test } from "vitest";
import { operatorCommand } from "#core/access/actor.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { setAllowance } from "#core/inference/metering/allowance.ts";
import { setRates } from "#core/inference/metering/rates.ts";
import { readUsage } from "#core/inference/metering/read-usage.ts";
import { monthOf } from "#core/inference/metering/reserve.ts";
import { addModel } from "#core/inference/models.ts";
import { addProvider, setProviderDisabled } from "#core/inference/providers/change-provider.ts";
import { type Caller, someCaller } from "./testing/hub-caller.ts";
import { chunks, json, startUpstream, USAGE, WORDS } from "./testing/inference-upstream.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

const world = await startApiWorld();
const upstream = await startUpstream();
afterAll(async () => {
  await upstream.stop();
  await world.stop();
});

const KEY = "sk-the-operators-own-key-4711";
const provider = await addProvider(
  operatorCommand,
  {
    name: "Next door",
    baseUrl: upstream.url,
    apiKey: KEY,
    isOwnNetworkAllowed: true,
    models: [
      { name: "tide/small", upstreamName: "tide-upstream" },
      { name: "tide-plus", plans: ["enterprise"] },
    ],
  },
  noOrigin,
);

beforeEach(async () => {
  upstream.answers();
  provideSettings({ INFERENCE_IDLE_SECONDS: "60" });
});

const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${world.origin}/v1`, apiKey, maxRetries: 0 });
const chat = (extra: object = {}) => ({ model: "tide/small", messages: [{ role: "user" as const, content: "When?" }], ...extra });

function post(
  token: string,
  body: unknown,
  { path = "chat/completions", headers = {}, signal = undefined as AbortSignal | undefined } = {},
) {
  return fetch(`${world.origin}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 15_000 });

const usageOf = ({ actor, id }: Caller) => readUsage(actor, id);
const lineOf = async (caller: Caller) => (await usageOf(caller)).lines[0];
const meterOf = (ownerId: string) =>
  db().inferenceMeter.findUnique({ where: { ownerId_month: { ownerId, month: new Date(monthOf(new Date())) } } });
const failure = async (asked: Promise<unknown>): Promise<APIError> => {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
};

test("the caller gets the provider's metered response, and the provider gets none of the caller's headers", async () => {
  const caller = await someCaller("inference-api");
  const client = clientOf(caller.accessToken);
  const answer = await client.chat.completions.create(
    chat({ temperature: 0.2, metadata: { any: "field" }, store: true }) as never,
  );
  expect(answer).toMatchObject({ model: "tide/small", choices: [{ message: { content: WORDS.join("") } }], usage: USAGE });
  const [sent] = upstream.received;
  expect(sent?.body).toEqual({ ...chat(), model: "tide-upstream", temperature: 0.2, metadata: { any: "field" }, store: false });
  await post(caller.accessToken, chat(), {
    headers: { cookie: "session=secret", "x-private": "1", "x-forwarded-for": "192.0.2.1" },
  });
  const headers = upstream.received[1]?.headers ?? {};
  expect(headers.authorization).toBe(`Bearer ${KEY}`);
  expect(Object.keys(headers).sort()).toEqual(
    ["accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host", "user-agent"].sort(),
  );
  expect(JSON.stringify(headers)).not.toContain(caller.accessToken);

  const embedded = await client.embeddings.create({ model: "tide/small", input: "words", encoding_format: "float" });
  expect(embedded).toMatchObject({ model: "tide/small", data: [{ embedding: [0.25, -1] }] });
  expect((await client.completions.create({ model: "tide/small", prompt: "The" })).choices[0]?.text).toBe(WORDS.join(""));
  expect((await client.responses.create({ model: "tide/small", input: "When?" })).model).toBe("tide/small");
  expect(upstream.received.at(-1)?.body.store).toBe(false);
  expect(await lineOf(caller)).toEqual({
    clientId: "",
    orgName: null,
    isPaidByOrganization: false,
    model: "tide/small",
    requests: 5,
    failures: 0,
    promptTokens: 11 + 11 + 5 + 11 + 9,
    completionTokens: 7 + 7 + 0 + 7 + 4,
    estimatedTokens: 0,
  });
  expect(await meterOf(caller.id)).toMatchObject({ tokens: 72n, requests: 5, reservedTokens: 0n, reservedRequests: 0 });
});

test("a stream arrives event by event, is always metered, and has token counts only if requested", async () => {
  const caller = await someCaller("inference-api");
  const client = clientOf(caller.accessToken);
  const resume = Promise.withResolvers<void>();
  upstream.answers(async (_req, res, body) => {
    res.setHeader("content-type", "text/event-stream");
    const [first, ...rest] = chunks(body);
    res.write(first);
    await resume.promise;
    const bytes = Buffer.from(`${rest.join("")}: awake\n\ndata: [DONE]\n\n`.replace("tide ", "tíde "));
    const half = bytes.indexOf(0xc3) + 1;
    res.write(bytes.subarray(0, half));
    await delay(20);
    res.end(bytes.subarray(half));
  });
  const stream = await client.chat.completions.create({ ...chat(), stream: true });
  const seen: OpenAI.Chat.Completions.ChatCompletionChunk[] = [];
  for await (const chunk of stream) {
    seen.push(chunk);
    resume.resolve();
  }
  expect(seen.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("The tíde turns.");
  expect(seen.every((chunk) => chunk.model === "tide/small" && !("usage" in chunk) && chunk.choices.length === 1)).toBe(true);
  expect(upstream.received[0]?.body.stream_options).toEqual({ include_usage: true });

  upstream.answers();
  const raw = await post(caller.accessToken, chat({ stream: true, stream_options: { include_usage: true } }));
  expect(raw.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(raw.headers.get("cache-control")).toContain("no-transform");
  const lines = (await raw.text()).trim().split("\n\n");
  expect(JSON.parse(lines.at(-2)?.slice(6) ?? "")).toMatchObject({ model: "tide/small", choices: [], usage: USAGE });
  expect(lines.at(-1)).toBe("data: [DONE]");

  const events = [];
  for await (const event of await client.responses.create({ model: "tide/small", input: "When?", stream: true }))
    events.push(event);
  expect(events.at(-1)).toMatchObject({
    type: "response.completed",
    response: { model: "tide/small", usage: { output_tokens: 4 } },
  });
  await eventually(() => lineOf(caller)).toMatchObject({ requests: 3, promptTokens: 11 + 11 + 9, completionTokens: 7 + 7 + 4 });
});

test("the request to the provider ends when the client disconnects, and the partial response is estimated", async () => {
  const caller = await someCaller("inference-api");
  upstream.answers((_req, res, body) => {
    if (!body.stream) return;
    res.setHeader("content-type", "text/event-stream");
    const words = Array.from({ length: 40 }, () => "some words of it ");
    for (const line of chunks(body, words).slice(0, -1)) res.write(line);
  });
  const before = upstream.state.ended;
  const waiting = new AbortController();
  const unanswered = post(caller.accessToken, chat(), { signal: waiting.signal });
  await eventually(() => upstream.received.length).toBe(1);
  waiting.abort();
  await expect(unanswered).rejects.toThrow();
  await eventually(() => upstream.state.ended).toBe(before + 1);

  const stream = await clientOf(caller.accessToken).chat.completions.create({ ...chat(), stream: true });
  for await (const _ of stream) break;
  await eventually(() => upstream.state.ended).toBe(before + 2);
  await eventually(async () => (await lineOf(caller))?.requests).toBe(2);
  const line = await lineOf(caller);
  expect(line).toMatchObject({ failures: 0 });
  expect(line?.promptTokens).toBeGreaterThan(0);
  expect(line?.completionTokens).toBeGreaterThan(0);
  expect(line?.estimatedTokens).toBe((line?.promptTokens ?? 0) + (line?.completionTokens ?? 0));
  await eventually(() => meterOf(caller.id)).toMatchObject({ reservedTokens: 0n, reservedRequests: 0 });
});

test("S137 a response uses up the allowance even if it is too large, takes too long, or its client has left", async () => {
  const caller = await someCaller("inference-api");
  const used = async () => {
    const { requests, completionTokens } = (await lineOf(caller)) ?? { requests: 0, completionTokens: 0 };
    return { requests, completionTokens };
  };
  upstream.answers((_req, res, { model }) => {
    res.writeHead(200, { "content-type": "application/json" });
    res.end(`{"model":${JSON.stringify(model)},"choices":[{"message":{"content":"${"x".repeat(17 * 1024 ** 2)}"}}]}`);
  });
  expect((await failure(clientOf(caller.accessToken).chat.completions.create(chat()))).message).toContain("larger than 16 MiB");
  expect(await used()).toEqual({ requests: 1, completionTokens: 100_000 });
  await post(caller.accessToken, { model: "tide/small", input: "When?" }, { path: "embeddings" });
  expect(await used()).toEqual({ requests: 2, completionTokens: 100_000 });

  upstream.answers(() => undefined);
  const leaving = new AbortController();
  const unread = post(caller.accessToken, chat({ max_tokens: 5 }), { signal: leaving.signal });
  await eventually(() => upstream.received.length).toBe(1);
  leaving.abort();
  await expect(unread).rejects.toThrow();
  await eventually(async () => (await used()).requests).toBe(3);
  expect((await used()).completionTokens).toBeGreaterThanOrEqual(100_100);

  provideSettings({ INFERENCE_IDLE_SECONDS: "1" });
  const before = (await used()).completionTokens;
  const late = await failure(clientOf(caller.accessToken).chat.completions.create(chat()));
  expect(late).toMatchObject({ status: 504, code: "upstream_timeout" });
  expect((await used()).completionTokens).toBeGreaterThanOrEqual(before + 100);
});

test("S137 a response that does not fit into memory uses up at most the tokens of its size", async () => {
  const caller = await someCaller("inference-api");
  upstream.answers((_req, res, { model }) => json(res, { model, choices: [{ message: { content: "x".repeat(100 * 1024) } }] }));
  const release = bodyBudget.take(256 * 1024 ** 2 - 1, { key: "somebody else", isAnonymous: false });
  const refused = await failure(clientOf(caller.accessToken).chat.completions.create(chat())).finally(release);
  expect(refused.status).toBe(503);
  const { completionTokens = 0 } = (await lineOf(caller)) ?? {};
  expect(completionTokens).toBeGreaterThanOrEqual(100);
  expect(completionTokens).toBeLessThan(10_000);
});

test("S137 `stream` must be true or false, because other values could start a stream without reported usage", async () => {
  const caller = await someCaller("inference-api");
  for (const stream of [1, "true", [true]]) {
    const response = await post(caller.accessToken, chat({ stream }));
    expect([response.status, (await response.json()).error.param]).toEqual([400, "stream"]);
  }
  for (const stream of [false, null]) expect((await post(caller.accessToken, chat({ stream }))).status).toBe(200);
});

test("a slow client slows the provider down, and a client that disconnects leaves no connection open", async () => {
  const caller = await someCaller("inference-api");
  const word = "x".repeat(64 * 1024);
  let sent = 0;
  upstream.answers(async (_req, res, body) => {
    res.setHeader("content-type", "text/event-stream");
    const [event = ""] = chunks(body, [word]);
    res.setMaxListeners(0);
    for (sent = 0; sent < 2_000 && !res.closed; sent++) {
      if (!res.write(event)) await Promise.race([once(res, "drain"), once(res, "close")]);
    }
    res.end();
  });
  const leave = new AbortController();
  const answer = await post(caller.accessToken, chat({ stream: true }), { signal: leave.signal });
  await eventually(() => sent).toBeGreaterThan(0);
  await delay(700);
  const stuckAt = sent;
  // Without back pressure the provider would have sent 128 MB by now.
  expect(stuckAt).toBeLessThan(500);
  await delay(200);
  expect(sent - stuckAt).toBeLessThan(10);
  expect(answer.status).toBe(200);
  leave.abort();
  await eventually(() => upstream.state.open).toBe(0);
  await eventually(() => meterOf(caller.id)).toMatchObject({ reservedTokens: 0n, reservedRequests: 0, requests: 1 });
});

test("if a provider disconnects or stalls during its response, the client's response ends with an error event", async () => {
  const caller = await someCaller("inference-api");
  provideSettings({ INFERENCE_IDLE_SECONDS: "1" });
  const read = async () => {
    const stream = await clientOf(caller.accessToken).chat.completions.create({ ...chat(), stream: true });
    const words: string[] = [];
    try {
      for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content ?? "");
    } catch (error) {
      return { words: words.join(""), error: error as APIError };
    }
    throw new Error("the answer ended well");
  };
  const begin = (end: (res: import("node:http").ServerResponse) => void) =>
    upstream.answers((_req, res, body) => {
      res.setHeader("content-type", "text/event-stream");
      res.write(chunks(body)[0] ?? "");
      setTimeout(() => end(res), 50);
    });
  begin((res) => res.destroy());
  expect(await read()).toMatchObject({ words: "The ", error: { code: "upstream_error", type: "upstream_error" } });
  begin(() => undefined);
  expect(await read()).toMatchObject({ words: "The ", error: { code: "upstream_timeout" } });
  let sent = 0;
  upstream.answers(async (_req, res, body) => {
    res.setHeader("content-type", "text/event-stream");
    res.write(chunks(body)[0] ?? "");
    const piece = `data: ${"x".repeat(256 * 1024)}\n:\n`;
    for (sent = 0; sent < 160 && !res.closed; sent++) {
      if (!res.write(piece)) await Promise.race([once(res, "drain"), once(res, "close")]);
    }
    res.end();
  });
  expect(await read()).toMatchObject({ words: "The ", error: { code: "upstream_error" } });
  expect(sent).toBeLessThan(120);
  upstream.answers((_req, res, { model }) => {
    res.writeHead(200, { "content-type": "application/json" });
    res.end(`{"model":${JSON.stringify(model)},"choices":${"[".repeat(200_000)}${"]".repeat(200_000)}}`);
  });
  expect((await post(caller.accessToken, chat())).status).toBe(502);
  await eventually(() => upstream.state.open).toBe(0);
});

test("failures of the provider become 502 or 504, and its errors about the request are passed on without the key", async () => {
  const caller = await someCaller("inference-api");
  const client = clientOf(caller.accessToken);
  const answer = async (status: number, body: unknown, headers: Record<string, string> = {}) => {
    upstream.answers((_req, res) => {
      for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
      json(res, body, status);
    });
    return failure(client.chat.completions.create(chat()));
  };
  const told = {
    error: {
      message: `no, ${KEY}: org-4711 too long`,
      type: "invalid_request_error",
      code: "context_length_exceeded",
      param: "messages",
    },
  };
  expect(await answer(400, told)).toMatchObject({
    status: 400,
    code: "context_length_exceeded",
    param: "messages",
    type: "invalid_request_error",
    error: { message: "no, [redacted]: org-4711 too long" },
  });
  for (const status of [301, 401, 402, 403, 404, 418, 500, 503]) {
    const error = await answer(status, told);
    expect([status, error.status, error.code]).toEqual([status, 502, "upstream_error"]);
    expect(error.message).not.toContain("org-4711");
  }
  const busy = await answer(429, told, { "retry-after": "17" });
  expect([busy.status, busy.headers?.get("retry-after"), busy.type]).toEqual([429, "17", "rate_limit_error"]);
  upstream.answers((_req, res) => res.end("<html>a proxy's page</html>"));
  expect(await failure(client.chat.completions.create(chat()))).toMatchObject({ status: 502 });
  upstream.answers((_req, res) => res.destroy());
  expect(await failure(client.chat.completions.create(chat()))).toMatchObject({ status: 502 });
  expect(await meterOf(caller.id)).toMatchObject({ tokens: 0n, requests: 0, reservedTokens: 0n, reservedRequests: 0 });
  expect(await lineOf(caller)).toMatchObject({ requests: 0, failures: 12 });
});

test("S138 invalid and deeply nested requests reach no provider, and a prompt of a megabyte is accepted", async () => {
  const caller = await someCaller("inference-api");
  const error = async (asked: Promise<Response>) => {
    const response = await asked;
    return [response.status, ((await response.json()) as { error: { code: string; param: string | null } }).error];
  };
  const token = caller.accessToken;
  for (const body of ['{"model":', "[]", "null", '"text"', "{}", '{"model":7}', '{"model":""}', ""]) {
    expect(await error(post(token, body)), body).toMatchObject([400, { code: "invalid_request" }]);
  }
  for (const model of ["nobody's", "a\0b", "x".repeat(5_000), "tide-plus", "tide-upstream"]) {
    expect(await error(post(token, chat({ model }))), model).toMatchObject([404, { code: "model_not_found", param: "model" }]);
  }
  expect(await error(post(token, "{}", { headers: { "content-type": "text/plain" } }))).toMatchObject([400, {}]);
  expect(await error(post(token, " ".repeat(17 * 1024 * 1024)))).toMatchObject([413, { type: "invalid_request_error" }]);
  for (const more of [{ previous_response_id: "resp_1" }, { conversation: "conv_1" }, { background: true }]) {
    const [param] = Object.keys(more);
    const asked = post(token, { model: "tide/small", input: "x", ...more }, { path: "responses" });
    expect(await error(asked)).toMatchObject([400, { param }]);
  }
  const deep = `{"model":"tide/small","messages":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
  expect((await error(post(token, deep)))[0]).toBe(400);
  expect(await error(fetch(`${world.origin}/v1/files`, { headers: { authorization: `Bearer ${token}` } }))).toMatchObject([
    404,
    { code: "not_found" },
  ]);
  expect(upstream.received).toEqual([]);

  const content = `${"a megabyte ".repeat(100_000)}\u0000\ud800`;
  expect((await post(token, chat({ messages: [{ role: "user", content }] }))).status).toBe(200);
  expect(upstream.received[0]?.body.messages).toEqual([{ role: "user", content }]);
  const inherited = post(token, '{"model":"tide/small","messages":[],"__proto__":{"a":1}}');
  expect(await error(inherited)).toMatchObject([400, { param: "__proto__" }]);
});

test("S138 unknown fields and names in another letter case are refused, because they might redirect the prompt", async () => {
  const { accessToken } = await someCaller("inference-api");
  const sent = async (more: object, path = "chat/completions") => {
    const response = await post(accessToken, { model: "tide/small", messages: [], input: "x", ...more }, { path });
    return [response.status, ((await response.json()) as { error?: { param: string } }).error?.param];
  };
  for (const name of [
    "Model",
    "MODEL",
    "Stream",
    "Stream_Options",
    "Store",
    "\u017ftore",
    "models",
    "fallbacks",
    "api_base",
    "Api_Key",
    "extra_body",
    "extra_headers",
    "litellm_params",
    "aws_bedrock_runtime_endpoint",
    "vertex_credentials",
    "deployment_id",
    "provider",
    "plugins",
    "kv_transfer_params",
    "vllm_xargs",
    "lora_path",
    "chat_template",
    "guided_decoding_backend",
    "media_io_kwargs",
    "mm_processor_kwargs",
    "priority",
    "service_tier",
    "access_programs",
    "enable_search",
    "search_parameters",
    "constructor",
  ]) {
    expect(await sent({ [name]: "tide-plus" })).toEqual([400, name]);
  }
  for (const name of ["Previous_Response_Id", "Conversation", "bac\u212aground"]) {
    expect(await sent({ [name]: true }, "responses")).toEqual([400, name]);
  }
  expect(await sent({ stream: true, stream_options: { Include_Usage: false } })).toEqual([400, "stream_options"]);
  // A template is code that the provider runs (CVE-2025-61620).
  expect(await sent({ chat_template_kwargs: { chat_template: "{% for a in range(10**9) %}{% endfor %}" } })).toEqual([
    400,
    "chat_template_kwargs",
  ]);
  // A provider in the operator's network would request the URL from there (S118).
  const picture = (url: unknown) => ({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
  expect(await sent(picture("http://169.254.169.254/latest/meta-data/"))).toEqual([400, "url"]);
  expect(await sent({ tools: [{ type: "mcp", Server_URL: "http://10.0.0.1/" }] }, "responses")).toEqual([400, "Server_URL"]);
  expect(upstream.received).toEqual([]);
  expect((await sent(picture("data:image/png;base64,AA==")))[0]).toBe(200);
  upstream.received.length = 0;
  const extras = {
    top_k: 40,
    min_p: 0.1,
    reasoning_effort: "low",
    chat_template_kwargs: { enable_thinking: false },
    guided_json: {},
  };
  expect((await sent({ ...extras, metadata: {}, stream_options: { include_usage: true } }))[0]).toBe(200);
  expect(upstream.received[0]?.body).toMatchObject(extras);
});

test("a token needs the scope inference-api, and the refusal names the scope", async () => {
  const other = await someCaller("read-repos", "manage-repos");
  const refused = await failure(clientOf(other.accessToken).chat.completions.create(chat()));
  expect(refused).toMatchObject({ status: 403, type: "permission_error", code: "insufficient_scope" });
  expect(refused.message).toContain("inference-api");
  expect(refused.headers?.get("www-authenticate")).toContain('scope="inference-api"');
  for (const token of ["kh_unknown", "a"]) {
    expect(await failure(clientOf(token).chat.completions.create(chat()))).toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  }
  expect((await fetch(`${world.origin}/v1/models`)).status).toBe(401);
  expect((await failure(clientOf(other.accessToken).models.list())).status).toBe(403);
  expect(upstream.received).toEqual([]);
});

test("an app's requests count for its user, and an exchanged token's requests count only for its organization", async () => {
  const person = await world.user("inga");
  const browser = world.browser();
  const app = await world.app(person, {
    scopes: ["openid", "inference-api"],
    redirectUris: ["https://app.example.test/callback"],
  });
  const { tokens } = await world.signInWith(app, await world.signIn(browser, person), browser, { scope: "openid inference-api" });
  await clientOf(tokens.access_token).chat.completions.create(chat());
  const actor = { ...(await someCaller()).actor, userId: person.id };
  expect((await readUsage(actor, person.id)).lines).toMatchObject([{ clientId: app.clientId, orgName: null, requests: 1 }]);

  const orgId = await world.organization("harbour", { [person.id]: "read" });
  const bound = await world.app(person, { owner: { orgId }, scopes: ["openid", "inference-api"], isConfidential: true } as never);
  await db().oAuthApp.update({ where: { id: bound.id }, data: { boundOrgId: orgId, privileges: ["token-exchange"] } });
  await db().user.update({ where: { id: person.id }, data: { emailVerifiedAt: new Date() } });
  await pool().query("select pg_notify('oauth_app', $1)", [bound.clientId]);
  const exchanged = async () => {
    const response = await world.post(
      "/oauth/token",
      {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: person.email,
        subject_token_type: "urn:keyhook:token-type:user-email",
        scope: "inference-api",
      },
      { authorization: world.basic(bound.clientId, bound.secret ?? "") },
    );
    return (await response.json()) as { access_token: string };
  };
  await eventually(exchanged).toMatchObject({ access_token: expect.any(String) });
  const { access_token } = await exchanged();
  const forOrganization = clientOf(access_token);
  await forOrganization.chat.completions.create(chat({ model: "tide-plus" }));
  expect((await forOrganization.models.list()).data.map(({ id }) => id)).toEqual(["tide-plus", "tide/small"]);
  expect((await forOrganization.models.retrieve("tide/small")).owned_by).toBe("Next door");
  expect((await clientOf(tokens.access_token).models.list()).data.map(({ id }) => id)).toEqual(["tide/small"]);
  expect(await meterOf(orgId)).toMatchObject({ tokens: 18n, requests: 1 });
  expect(await meterOf(person.id)).toMatchObject({ tokens: 18n, requests: 1 });

  await setAllowance(operatorCommand, "organization", { monthlyTokens: "0", monthlyRequests: "" }, noOrigin);
  expect((await failure(forOrganization.chat.completions.create(chat()))).message).toContain(
    "This organization cannot use inference",
  );
  await setAllowance(operatorCommand, "plan:enterprise", { monthlyTokens: "", monthlyRequests: "" }, noOrigin);
  await forOrganization.chat.completions.create(chat());
  await setAllowance(operatorCommand, orgId, { monthlyTokens: "", monthlyRequests: "2" }, noOrigin);
  expect(await failure(forOrganization.chat.completions.create(chat()))).toMatchObject({ status: 402 });
  await clientOf(tokens.access_token).chat.completions.create(chat());
  await db().membership.delete({ where: { orgId_userId: { orgId, userId: person.id } } });
  expect((await failure(forOrganization.chat.completions.create(chat()))).status).toBe(401);
});

test("requests beyond the month's allowance get 402, and reservations of killed processes are released", async () => {
  const caller = await someCaller("inference-api");
  const client = clientOf(caller.accessToken);
  await setAllowance(operatorCommand, caller.id, { monthlyTokens: "4,000", monthlyRequests: "" }, noOrigin);
  upstream.answers(async (_req, res, body) => {
    await delay(150);
    json(res, { model: body.model, choices: [], usage: { prompt_tokens: 100, completion_tokens: 900, total_tokens: 1_000 } });
  });
  const many = await Promise.allSettled(
    Array.from({ length: 24 }, () => client.chat.completions.create(chat({ max_tokens: 1_000 }))),
  );
  const done = many.filter(({ status }) => status === "fulfilled").length;
  expect(done).toBeGreaterThanOrEqual(3);
  expect(done).toBeLessThanOrEqual(4);
  for (const each of many) {
    if (each.status === "fulfilled") continue;
    expect([402, 429]).toContain(each.reason.status);
    if (each.reason.status === 429) expect(each.reason.headers.get("retry-after")).toBe("5");
  }
  while ((await usageOf(caller)).tokens < 4_000) await client.chat.completions.create(chat({ max_tokens: 10 }));
  const refused = await failure(client.chat.completions.create(chat()));
  expect(refused).toMatchObject({ status: 402, type: "insufficient_quota", code: "insufficient_quota" });
  expect(refused.message).toMatch(/Your allowance of 4,000 tokens for this month is used up\. The allowance is reset on 1 \w+\./);

  await setAllowance(operatorCommand, caller.id, { monthlyTokens: "5000", monthlyRequests: "" }, noOrigin);
  const month = new Date(monthOf(new Date()));
  await db().inferenceReservation.create({
    data: { id: "5".repeat(24), ownerId: caller.id, month, tokens: 9_000, expiresAt: new Date(0) },
  });
  await db().inferenceMeter.updateMany({ where: { ownerId: caller.id }, data: { reservedTokens: 9_000, reservedRequests: 1 } });
  await client.chat.completions.create(chat({ max_tokens: 10 }));
  expect(await meterOf(caller.id)).toMatchObject({ reservedTokens: 0n, reservedRequests: 0 });

  await setAllowance(operatorCommand, caller.id, { monthlyTokens: "", monthlyRequests: "1" }, noOrigin);
  expect((await failure(client.chat.completions.create(chat()))).message).toContain("Your allowance of 1 request for this month");
  await setAllowance(operatorCommand, caller.id, null, noOrigin);
  await client.chat.completions.create(chat());
});

test("a user gets 429 for too many requests in a minute or at the same time", async () => {
  await setRates(operatorCommand, { perUser: "3", perApp: "600" }, noOrigin);
  const caller = await someCaller("inference-api");
  const client = clientOf(caller.accessToken);
  for (let each = 0; each < 3; each++) await client.chat.completions.create(chat());
  const refused = await failure(client.chat.completions.create(chat()));
  expect(refused).toMatchObject({ status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" });
  expect(Number(refused.headers?.get("retry-after"))).toBeGreaterThan(0);
  expect(upstream.received).toHaveLength(3);
  // Invalid requests count too, because reading them has a cost (S137).
  const careless = await someCaller("inference-api");
  const statuses: number[] = [];
  for (const body of ["{", '{"model":7}', chat({ model: "nobody's" }), "{"]) {
    statuses.push((await post(careless.accessToken, body)).status);
  }
  expect(statuses).toEqual([400, 400, 404, 429]);

  await setRates(operatorCommand, { perUser: "1000", perApp: "600" }, noOrigin);
  const eager = await someCaller("inference-api");
  const resume = Promise.withResolvers<void>();
  upstream.answers(async (_req, res, body) => {
    await resume.promise;
    json(res, { model: body.model, choices: [], usage: USAGE });
  });
  const asked = Array.from({ length: 40 }, () => post(eager.accessToken, chat({ max_tokens: 1 })));
  const refusals = Promise.all(asked).then((all) => all.filter(({ status }) => status === 429).length);
  await eventually(() => upstream.received.length).toBe(32);
  resume.resolve();
  expect(await refusals).toBe(8);
});

test("disabled providers and providers at private IP addresses get no requests, and any page may call the gateway", async () => {
  const caller = await someCaller("inference-api");
  await setProviderDisabled(operatorCommand, provider.id, true, noOrigin);
  expect(await failure(clientOf(caller.accessToken).chat.completions.create(chat()))).toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  expect((await clientOf(caller.accessToken).models.list()).data).toEqual([]);
  await setProviderDisabled(operatorCommand, provider.id, false, noOrigin);
  await expect(addModel(operatorCommand, provider.id, { name: "tide/small" }, noOrigin)).rejects.toMatchObject({
    code: "conflict",
  });

  const outside = { name: "Elsewhere", baseUrl: upstream.url.replace("http:", "https:"), models: [{ name: "elsewhere" }] };
  await addProvider(operatorCommand, outside, noOrigin);
  const seen = upstream.received.length;
  expect((await post(caller.accessToken, chat({ model: "elsewhere" }))).status).toBe(502);
  expect(upstream.received.length).toBe(seen);

  const preflight = await fetch(`${world.origin}/v1/chat/completions`, {
    method: "OPTIONS",
    headers: {
      origin: "https://elsewhere.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-os",
    },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-headers")).toContain("x-stainless-os");
  expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
});
