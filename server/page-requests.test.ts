import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, signedInPerson } from "#core/accounts/testing/people.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { service } from "#core/testing/shared-service.ts";

/** S138: no input to a page gets 5xx. By themselves, Next and React respond with 500 to some inputs. */
let action: string;
let hidden: Map<string, string>;

beforeAll(async () => {
  const page = await (await fetch(`${service.origin}/login`)).text();
  const unescaped = (value = "") => value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const inputs = page.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g);
  hidden = new Map([...inputs].map(([, name = "", value]) => [name, unescaped(value)]));
  action = page.match(/&quot;id&quot;:&quot;([0-9a-f]{42})/)?.[1] ?? "";
  expect(action).not.toBe("");
});

const PAGES = [
  ...["/", "/login", "/signup", "/setup/x", "/interaction/x", "/settings/account", "/nobody", "/api/auth/session"],
  ...["/device", "/activate", "/activate/confirm", "/activate/permissions", "/activate/success"],
];

async function statusesOf(init: RequestInit, paths = PAGES): Promise<Record<string, number>> {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const answer = await fetch(service.origin + path, { redirect: "manual", ...init });
      await answer.arrayBuffer();
      return [path, answer.status] as const;
    }),
  );
  return Object.fromEntries(answers);
}

const failures = (statuses: Record<string, number>) => Object.entries(statuses).filter(([, status]) => status >= 500);

const part = (name: string, value: string, more = "") =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => `${parts.join("")}--x--\r\n`;
const MULTIPART = "multipart/form-data; boundary=x";

describe("a page", { timeout: 60_000 }, () => {
  it.each(["HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "POST", "PROPFIND"])("answers %s", async (method) => {
    expect(failures(await statusesOf({ method }, [...PAGES, "/oauth/token", "/api/whoami-v2", "/images/x"]))).toEqual([]);
  });

  it.each([
    { rsc: "1", "next-router-state-tree": "%5B%22" },
    { rsc: "1", "next-router-state-tree": "%7B%7D" },
    { rsc: "1", "next-router-segment-prefetch": "/../x" },
    { "next-url": "http://[" },
    { cookie: "%zz=%zz; a; keyhook_session=%00" },
    { "x-middleware-subrequest": "a:a:a:a:a" },
    { "accept-language": "\u00ff", "accept-encoding": "zzz;q=9", range: "bytes=9-1" },
  ])("answers to headers like %j", async (headers) => {
    expect(failures(await statusesOf({ headers: headers as unknown as Record<string, string> }))).toEqual([]);
  });

  it.each(["?next=%ff", "?next[]=1&next[]=2", "?__proto__=1", "?next=//evil", "?callbackUrl=x", `?${"a=1&".repeat(2_000)}`])(
    "answers to a query like %.20s",
    async (query) => {
      expect(
        failures(
          await statusesOf(
            {},
            PAGES.map((path) => path + query),
          ),
        ),
      ).toEqual([]);
    },
  );

  type Body = [what: string, contentType: string, body: () => string, actionId?: () => string];
  const bodies: Body[] = [
    ["a form without boundary", "multipart/form-data", () => "abc"],
    ["an invalid form", MULTIPART, () => "abc"],
    ["a form that is cut off", MULTIPART, () => part("login", "a")],
    ["an action that does not exist", MULTIPART, () => form(part(`$ACTION_ID_${"0".repeat(42)}`, ""))],
    ["an action without its form", MULTIPART, () => form(part(`$ACTION_ID_${action}`, ""))],
    ["a reference to nothing", MULTIPART, () => form(part("$ACTION_REF_2", ""))],
    ["a reference that is not JSON", MULTIPART, () => form(part("$ACTION_REF_2", ""), part("$ACTION_2:0", "{bad"))],
    [
      "a reference that leads nowhere",
      MULTIPART,
      () => form(part("$ACTION_REF_2", ""), part("$ACTION_2:0", `{"id":"${action}","bound":"$@1"}`)),
    ],
    ["the fields of all forms of a page", MULTIPART, () => form(...[...hidden].map(([name, value]) => part(name, value)))],
    ["a URL-encoded form", "application/x-www-form-urlencoded", () => `$ACTION_ID_${action}=&login=%zz%ff`],
    ["arguments of another kind", "text/plain;charset=UTF-8", () => "[1,2,3]", () => action],
    ["no arguments", "text/plain;charset=UTF-8", () => "[]", () => action],
    ["arguments that are not JSON", "text/plain;charset=UTF-8", () => "{bad", () => action],
    ["arguments that refer to a function", "text/plain;charset=UTF-8", () => '["$F1"]', () => action],
    ["too many arguments", MULTIPART, () => form(part("0", JSON.stringify(Array(4_900).fill("$R1")))), () => action],
    ["a Set whose values are not a list", MULTIPART, () => form(part("0", `["$W1"]`) + part("1", "{}")), () => action],
    ["arguments that are missing", MULTIPART, () => form(part("0", '["$K1"]')), () => action],
    ["arguments that are cut off", MULTIPART, () => "zz", () => action],
    ["an invalid action id", "text/plain;charset=UTF-8", () => "[]", () => "../../x"],
    ["JSON", "application/json", () => "{bad"],
    ...["null", '"abc"', '["$n1x"]'].map((json): Body => [`the arguments ${json}`, "text/plain", () => json, () => action]),
    ...Object.entries({
      "a Blob that is a text": [part("1", "x"), part("0", '["$B1"]')],
      "an array of bytes that is missing": [part("0", '["$o1"]')],
      "numbers that are cut off": [part("1", "abc", '; filename="a"'), part("0", '["$g1"]')],
      "a stream that refers to a value": [part("0", '["$r1","$1:a"]')],
      "a long chain": Array.from({ length: 4_900 }, (_, at) =>
        part(`${4_899 - at}`, at === 0 ? "1" : `["$${(4_900 - at).toString(16)}"]`),
      ),
      "a long name of a file": [part("0", "", `; filename="${"a".repeat(17_000)}"`)],
      "control characters": [part("0", "", '; filename="\x01"')],
    }).map(([what, parts]): Body => [`a call with ${what}`, MULTIPART, () => form(...parts), () => action]),
  ];

  it.each(bodies)("answers to %s", async (_what, contentType, body, actionId) => {
    const headers = { "content-type": contentType, ...(actionId && { "next-action": actionId() }) };
    const faults = async () => (await service.output()).split("a page failed").length;
    const before = await faults();
    expect(failures(await statusesOf({ method: "POST", headers, body: body() }))).toEqual([]);
    expect(await faults()).toBe(before);
  });

  it("answers an action of any page without 5xx, whatever its bound arguments are", async () => {
    const operator = await signedInPerson("ada", { isOperator: true });
    const { type, owner, name, fullName } = await someRepo(operator);
    const repo = { type, owner: owner.handle, name };
    const bounds = [null, "x\u0000\ud800", { ...repo, ref: {}, path: {}, branch: 7 }, { repo, num: {}, id: [], onPage: "x" }];
    const manifest = readFileSync(join(process.env.NEXT_DIST_DIR ?? ".next", "server/server-reference-manifest.json"), "utf8");
    const actions = Object.entries(JSON.parse(manifest).node as Record<string, { workers: object; exportedName: string }>);
    const failed = new Set<string>();
    for (const [id, { workers, exportedName }] of actions) {
      const count = (Number.parseInt(id.slice(0, 2), 16) >> 1).toString(2).replaceAll("0", "").length;
      if (count === 0) continue;
      const page = (Object.keys(workers).sort()[0] ?? "")
        .replace(/^app|\/\([^)]*\)|\/page$/g, "")
        .replace("/_not-found", "/x/y/z/w");
      const path = page.replace("/repos/[type]/[owner]/[name]", `/${fullName}`).replace(/\[+(\.\.\.)?\w+\]+/g, "x") || "/";
      const before = bounds.map((bound) => [...Array(Math.max(count - 2, 0)).fill(bound), { values: {}, errors: {} }, "$K1"]);
      await Promise.all(
        [...before.map((given) => given.slice(-count)), Array(count).fill(null)].map(async (given) => {
          const body = form(part("1_path", "x"), part("0", JSON.stringify(given)));
          const cookie = `session-${new URL(service.origin).port}=${operator.token}`;
          const headers = { "content-type": MULTIPART, "next-action": id, cookie };
          const answer = await fetch(service.origin + path, { method: "POST", redirect: "manual", headers, body });
          if (answer.status >= 500 || /went wrong on our side/.test(await answer.text())) failed.add(exportedName);
        }),
      );
    }
    expect([...failed]).toEqual([]);
  }, 240_000);

  it.each([
    "/%ff",
    "/activate%",
    "/interaction/%E0%A4%A",
    "/@x/%",
    "/docs/%ff",
    "/api/auth/%zz",
    "/docs/%25ff",
    "/x/y/blob/main/%25ff",
  ])("answers to the path %s", async (path) => {
    expect([400, 404]).toContain((await statusesOf({}, [path]))[path]);
  });

  it("S24 is not sent as Next's data at its path with `.rsc`", async () => {
    const paths = ["/activate.rsc", "/login.rsc?a", "/activate.segments/_tree.segment.rsc"];
    expect(await statusesOf({}, paths)).toEqual(Object.fromEntries(paths.map((path) => [path, 404])));
  });

  it("is not rendered for Next's image URLs", async () => {
    const path = "/_next/image?url=%2Flogin&w=64&q=75";
    expect(await statusesOf({}, [path])).toEqual({ [path]: 404 });
  });

  it("responds with 400 to an unreadable form", async () => {
    expect(await statusesOf({ method: "POST", headers: { "content-type": MULTIPART }, body: "abc" }, ["/login"])).toEqual({
      "/login": 400,
    });
  });

  it("S138 refuses too many arguments of an action before React builds them", async () => {
    const headers = { "content-type": MULTIPART, "next-action": action };
    const body = form(part("1", JSON.stringify(Array(6_000).fill(1.5))), part("0", '["$W1"]'));
    const answer = await fetch(`${service.origin}/login`, { method: "POST", headers, body });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("Send at most 5,000 of each")]);
  });

  it("S24 does not send a file of a Space's app as the data of an action that redirects to the file", async () => {
    const mallory = await signedInPerson();
    const repo = await someRepo(mallory, { type: "space", sdk: "static" });
    const data = '1:I[1,["/evil.js"],"default"]\n0:{"a":"$1","f":[],"b":"x"}\n';
    await commitTo(repo, mallory, { "README.md": "---\nsdk: static\n---\n", "x.htc": data });
    const path = `/spaces/${repo.fullName}/app/x.htc`;
    const file = await fetch(service.origin + path);
    expect([file.status, file.headers.get("content-type"), await file.text()]).toEqual([200, "application/octet-stream", data]);
    const fields = { login: mallory.username, password: PASSWORD, next: path };
    const parts = Object.entries(fields).map(([name, value]) => part(`_1_${name}`, value));
    const body = form(...parts, part("0", '[{"values":{},"errors":{}},"$K1"]'));
    const headers = { "content-type": MULTIPART, "next-action": action };
    const answer = await fetch(`${service.origin}/login`, { method: "POST", headers, body });
    expect([answer.headers.get("x-action-redirect"), await answer.text()]).toEqual([`${path};push`, ""]);
  });

  it.each(["a form", "a call"])("reads a large file in %s", async (what) => {
    const { token } = await signedInPerson();
    const body = new FormData();
    const prefix = what === "a call" ? "_1_" : "";
    if (what === "a form") for (const [name, value] of hidden) body.append(name, value);
    body.append(`${prefix}file`, new File([Buffer.alloc(4_000_000, ",")], "a"));
    if (what === "a call") body.append("0", '[{"values":{},"errors":{}},"$K1"]');
    const headers = {
      cookie: `session-${new URL(service.origin).port}=${token}`,
      ...(what === "a call" && { "next-action": action }),
    };
    const answer = await fetch(`${service.origin}/login`, { method: "POST", redirect: "manual", headers, body });
    expect(answer.status).toBe(what === "a call" ? 200 : 307);
  });

  it.each(["/login", "/api/auth/session"])("%s reads no more than its limit of a body without Content-Length", async (path) => {
    const contentType = path === "/login" ? MULTIPART : "application/x-www-form-urlencoded";
    const { status, sentBytes } = await flood(path, contentType);
    expect(status).toBe(413);
    expect(sentBytes).toBeLessThan(FLOOD_BYTES);
  });
});

const FLOOD_BYTES = 256 * 1024 * 1024;

function flood(path: string, contentType: string): Promise<{ status: number | undefined; sentBytes: number }> {
  const chunk = Buffer.alloc(64 * 1024, "a");
  return new Promise((resolve, reject) => {
    let sentBytes = 0;
    let isOver = false;
    const req = request(service.origin + path, { method: "POST", headers: { "content-type": contentType } });
    const send = () => {
      while (!isOver && sentBytes < FLOOD_BYTES) {
        sentBytes += chunk.length;
        if (!req.write(chunk)) return;
      }
      if (!isOver) req.end();
    };
    req.on("drain", send);
    req.on("response", ({ statusCode }) => {
      isOver = true;
      req.destroy();
      resolve({ status: statusCode, sentBytes });
    });
    req.on("error", (error) => isOver || reject(error));
    send();
  });
}

it("builds of the same sources have the same IDs", () => {
  const folder = process.env.NEXT_DIST_DIR ?? ".next";
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const sources = read("keyhook-built");
  expect(sources).toMatch(/^[0-9a-f]{64}$/);
  expect(read("BUILD_ID")).toBe(sources.slice(0, 20));
  const { encryptionKey } = JSON.parse(read("server/server-reference-manifest.json"));
  expect(encryptionKey).toBe(Buffer.from(sources, "hex").toString("base64"));
});
