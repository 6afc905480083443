import { afterAll, beforeEach, expect, test } from "vitest";
import { ask, openQuestion, resume } from "../testing/authorization.ts";
import { type Prepared, prepare } from "../testing/sign-in.ts";
import { REDIRECT_URI, startWorld } from "../testing/world.ts";

/** OAuth 2.0 Multiple Response Types, Form Post, docs/decisions/014. */
let at: Prepared;
const world = await startWorld();
afterAll(() => world.stop());
beforeEach(async () => {
  at = await prepare(world, { isConfidential: true });
});

const code = expect.stringMatching(/^[\w-]{43}$/);

test("discovery lists the response modes, and another mode is refused", async () => {
  expect((await world.discover()).response_modes_supported).toEqual(["form_post", "fragment", "query"]);
  for (const response_mode of ["web_message", "jwt", "query.jwt", "banana", "__proto__"]) {
    const { status, answer } = await ask(at, { response_mode });
    expect({ status, answer }).toMatchObject({ status: 303, answer: { error: "unsupported_response_mode", state: "a state" } });
  }
});

test("query, the default, keeps the redirect URI's own query", async () => {
  const own = await prepare(world, { isConfidential: true, redirectUris: ["https://app.example.test/cb?tenant=7&x"] });
  for (const mode of [{}, { response_mode: "query" }]) {
    const redirect_uri = "https://app.example.test/cb?tenant=7&x";
    const question = await openQuestion(own, { ...mode, redirect_uri, prompt: "consent" });
    const { location } = await resume(own, await question.allow());
    expect(location?.hash).toBe("");
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      tenant: "7",
      x: "",
      code,
      state: "a state",
      iss: world.origin,
    });
  }
});

test("fragment hides the answer from the app's server", async () => {
  const question = await openQuestion(at, { response_mode: "fragment" });
  const { status, location } = await resume(at, await question.allow());
  expect(status).toBe(303);
  expect(location?.search).toBe("");
  expect(Object.fromEntries(new URLSearchParams(location?.hash.slice(1)))).toEqual({ code, state: "a state", iss: world.origin });
  const refused = await ask(at, { response_mode: "fragment", scope: "openid jobs" });
  expect(refused.location?.search).toBe("");
  expect(refused.answer).toMatchObject({ error: "invalid_scope", state: "a state", iss: world.origin });
});

test("S12 form_post posts the answer to the app, even in a browser without scripts", async () => {
  const state = `"><script>alert(1)</script>&amp; 'ü`;
  const question = await openQuestion(at, { response_mode: "form_post", state });
  const { status, page, location } = await resume(at, await question.allow());
  expect({ status, location }).toEqual({ status: 200, location: undefined });
  expect(formOf(page)).toEqual({ action: REDIRECT_URI, fields: { code, state, iss: world.origin } });
  expect(page).toMatch(/<noscript>[\s\S]*<button[^>]*type="submit"/);
});

test("S12 form_post also posts errors, but only to a registered URI (S20)", async () => {
  const refused = await ask(at, { response_mode: "form_post", scope: "openid jobs" });
  expect(formOf(refused.page)).toMatchObject({
    action: REDIRECT_URI,
    fields: { error: "invalid_scope", state: "a state", iss: world.origin },
  });
  const stolen = await ask(at, { response_mode: "form_post", redirect_uri: "https://evil.example/cb" });
  expect(stolen.status).toBe(400);
  expect(stolen.page).not.toMatch(/<form|="https:\/\/evil/);
});

function formOf(page: string) {
  const text = (escaped = "") =>
    escaped.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (_, decimal, hex, name) =>
      name
        ? ({ amp: "&", lt: "<", gt: ">", quot: '"' }[name as string] ?? "?")
        : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16)),
    );
  const action = /<form method="post" action="([^"]*)"/.exec(page)?.[1];
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g)];
  return { action: text(action), fields: Object.fromEntries(fields.map(([, name, value]) => [name, text(value)])) };
}
