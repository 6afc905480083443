import { once } from "node:events";
import { connect } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { env } from "#core/env.ts";
import { service } from "#core/testing/shared-service.ts";

let database: pg.Client;
let cookie: string;
let hidden: [string, string][];

beforeAll(async () => {
  database = new pg.Client({ connectionString: env().DATABASE_OWNER_URL });
  await database.connect();
  cookie = `session-${new URL(service.origin).port}=${"x".repeat(43)}`;
  const page = await (await fetch(`${service.origin}/login`)).text();
  const [form = ""] = page.match(/<form(?:(?!<\/form>)[\s\S])*?name="login"/) ?? [];
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?\/>/g)];
  hidden = inputs.map(([, name = "", value = ""]) => [name, value.replaceAll("&quot;", '"')]);
  expect(hidden.map(([name]) => name)).toContain("$ACTION_KEY");
});
afterAll(() => database.end());

const asPerson = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

async function ask(path: string, init: RequestInit = {}) {
  const answer = await fetch(service.origin + path, { redirect: "manual", ...init, headers: { ...asPerson, ...init.headers } });
  const requestId = answer.headers.get("x-request-id") ?? "";
  expect(requestId).not.toBe("");
  return { answer, status: answer.status, body: await answer.text(), requestId };
}

type Answer = Awaited<ReturnType<typeof ask>>;

function expectPlainPage({ answer, body, requestId }: Answer, title: string): void {
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(answer.headers.get("content-encoding")).toBeNull();
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(answer.headers.get("x-frame-options")).toBe("DENY");
  expect(answer.headers.get("link")).toBeNull();
  expect(body).toContain(`<h1>${title}</h1>`);
  expect(body).not.toContain("<script");
  expect(body).toContain(requestId);
  expect(body.match(/<\/html>/g)).toHaveLength(1);
  expect(body).not.toMatch(/relation|site_session|\.ts\b|node_modules/);
}

const staleId = (text: string) => text.replace(/[0-9a-f]{42}/g, (id) => id.slice(0, 2) + "0".repeat(40));

function signInForm(typed: Record<string, string>, { isStale = false } = {}): FormData {
  const form = new FormData();
  for (const [name, value] of hidden) form.set(name, isStale ? staleId(value) : value);
  for (const [name, value] of Object.entries(typed)) form.set(name, value);
  return form;
}

it("a file of a repository whose name has no owner gets the error code for a missing repository", async () => {
  for (const method of ["GET", "HEAD"]) {
    const response = await fetch(`${service.origin}/none/resolve/main/config.json`, { method });
    expect([method, response.status, response.headers.get("x-error-code")]).toEqual([method, 404, "RepoNotFound"]);
  }
  expect((await fetch(`${service.origin}/none/nothing`)).headers.get("x-error-code")).toBeNull();
});

it("S137 an upgrade that is not for a Space is an ordinary request, and ends with its connection", async () => {
  await fetch(`${service.origin}/login`); // Next listens for upgrades once it has rendered a page.
  const socket = connect({ port: Number(new URL(service.origin).port), host: "localhost" });
  socket.write(`GET /.x/y HTTP/1.1\r\nHost: ${new URL(service.origin).host}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
  const [start] = await once(socket, "data");
  expect(String(start)).toMatch(/^HTTP\/1\.1 404 /);
  socket.end();
  await once(socket.resume(), "close");
});

describe("a page that fails", { timeout: 60_000 }, () => {
  beforeAll(async () => void (await database.query("ALTER TABLE site_session RENAME TO away")));
  afterAll(async () => void (await database.query("ALTER TABLE away RENAME TO site_session")));

  it.each(["/settings/account", "/", "/interaction/x", "/login?switch=1&next=%2F"])(
    "%s explains the failure without a script",
    async (path) => {
      const failed = await ask(path, { headers: { cookie } });
      expect(failed.status).toBe(500);
      expectPlainPage(failed, "Something went wrong on our side");
      expect(failed.body).toContain(`href="${path.replaceAll("&", "&#38;")}"`);
    },
  );

  it("is logged under the ID that it shows", async () => {
    const { requestId } = await ask("/settings/account", { headers: { cookie } });
    await vi.waitFor(async () => {
      const lines = (await service.output()).split("\n");
      const line = lines.find((each) => each.includes(requestId) && each.includes("a page failed"));
      expect(JSON.parse(line ?? "{}")).toMatchObject({ requestId, err: { message: expect.stringContaining("site_session") } });
    });
  });

  it("has no body for HEAD", async () => {
    const { status, body } = await ask("/settings/account", { method: "HEAD", headers: { cookie } });
    expect([status, body]).toEqual([500, ""]);
  });

  it("is JSON for a program", async () => {
    const { status, body } = await ask("/settings/account", { headers: { cookie, accept: "*/*" } });
    expect([status, JSON.parse(body)]).toEqual([500, { error: "server_error", error_description: "Something went wrong" }]);
  });

  it("comes in the theme that the person has chosen", async () => {
    const { body } = await ask("/settings/account", { headers: { cookie: `${cookie}; theme=dark` } });
    expect(body).toContain('<html lang="en" data-theme="dark">');
  });

  it("links back only to the service itself", async () => {
    const { body } = await ask("//example.com/settings", { headers: { cookie } });
    expect(body).not.toMatch(/href="(\/\/|\/\\)/);
  });

  it("answers Next's own scripts in their format", async () => {
    const first = await ask("/settings/account", { headers: { cookie, rsc: "1", accept: "*/*" } });
    const { answer, body } = await ask(first.answer.headers.get("location") ?? "", {
      headers: { cookie, rsc: "1", accept: "*/*" },
    });
    expect(answer.headers.get("content-type")).toMatch(/^text\/x-component/);
    expect(body).toMatch(/E\{"digest":"/);
  });
});

describe("a page that does not exist", { timeout: 60_000 }, () => {
  it.each(["/nobody", "/datasets/nobody/nothing", "/settings/no-such-page", "/nothing/here/at/all", "/activate/x"])(
    "%s gets an explanation without a script",
    async (path) => {
      const { status, answer, body } = await ask(path);
      expect(status).toBe(404);
      const drawn = body.replace(/<script\b[^>]*>[\s\S]*?<\/script>/g, "");
      expect(drawn).toMatch(/<main\b[\s\S]*<h1>Page not found<\/h1>[\s\S]*<\/main>/);
      expect(drawn).toContain('href="/login');
      expect(body.match(/<\/html>/g)).toHaveLength(1);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      const [, nonce] = answer.headers.get("content-security-policy")?.match(/'nonce-([^']+)'/) ?? [];
      if (nonce) expect(body).toContain(`nonce="${nonce}"`);
      else expect(answer.headers.get("content-security-policy")).toContain("script-src 'none'");
    },
  );

  it("has no body for HEAD, and answers Next's own scripts in their format", async () => {
    const { status, body } = await ask("/nobody", { method: "HEAD" });
    expect([status, body]).toEqual([404, ""]);
    const asked = { headers: { rsc: "1", accept: "*/*" } };
    const first = await ask("/nobody", asked);
    const { answer } = await ask(first.answer.headers.get("location") ?? "", asked);
    expect(answer.headers.get("content-type")).toMatch(/^text\/x-component/);
  });
});

describe("a form from before an update", { timeout: 60_000 }, () => {
  it("gets a page with the input, and a way back", async () => {
    const typed = { login: 'mara "<b>" of the north', password: "not for showing", next: "/settings" };
    const answered = await ask("/login?next=%2Fsettings", { method: "POST", body: signInForm(typed, { isStale: true }) });
    expect(answered.status).toBe(409);
    expectPlainPage(answered, "This form is out of date");
    expect(answered.body).toContain("Nothing was changed");
    expect(answered.body).toContain("mara &#34;&#60;b&#62;&#34; of the north");
    expect(answered.body).not.toContain("not for showing");
    expect(answered.body).not.toContain("ACTION");
    expect(answered.body).toContain('href="/login?next=%2Fsettings"');
  });

  it("gets the same response if its page has no scripts", async () => {
    const answered = await ask("/interaction/x", { method: "POST", body: signInForm({}, { isStale: true }) });
    expect(answered.status).toBe(409);
    expectPlainPage(answered, "This form is out of date");
  });

  it("is recognized by $ACTION_ID_… in place of $ACTION_KEY", async () => {
    const form = new FormData();
    form.set(`$ACTION_ID_${"0".repeat(42)}`, "");
    form.set("fullName", "Mara Lindqvist");
    const answered = await ask("/settings/profile", { method: "POST", body: form });
    expect(answered.status).toBe(409);
    expectPlainPage(answered, "This form is out of date");
    expect(answered.body).toContain("Mara Lindqvist");
  });

  it("gets a response in the format of Next's own scripts if these sent the form", async () => {
    const id = staleId(hidden.find(([, value]) => value.includes('"id"'))?.[1] ?? "").match(/[0-9a-f]{42}/)?.[0] ?? "";
    const headers = { accept: "text/x-component", "next-action": id, "content-type": "text/plain;charset=UTF-8" };
    const { answer, status } = await ask("/login", { method: "POST", headers, body: "[]" });
    expect([status, answer.headers.get("x-nextjs-action-not-found")]).toEqual([409, "1"]);
    expect(answer.headers.get("content-type")).toBe("text/plain");
  });

  it("differs from a form of this build, which is processed", async () => {
    const { status, body } = await ask("/login", { method: "POST", body: signInForm({ login: "nobody", password: "wrong" }) });
    expect(status).toBeLessThan(500);
    expect(body).not.toContain("out of date");
    expect(body).toContain('value="nobody"');
  });
});

it("a malformed form gets the response for an unreadable form", { timeout: 60_000 }, async () => {
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const answered = await ask("/login", { method: "POST", headers, body: "abc" });
  expect(answered.status).toBe(400);
  expectPlainPage(answered, "This form could not be read");
});
