import { afterAll, beforeAll, expect, test } from "vitest";
import { freshName, from, signedInPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { api } from "./app.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  world = await startApiWorld();
});
afterAll(() => world.stop());

/** All registered URLs, so that the test also covers new routes. */
function addresses(): { method: string; template: string }[] {
  const of = (path: string) => /^(\/api)?(\/(models|datasets|spaces|:type(\{[^}]*\})?))?\/:owner\/:name\b/.test(path);
  const found = api.routes
    .filter(({ method, path }) => method !== "ALL" && of(path))
    .map(({ method, path }) => ({ method, template: path }));
  return [...new Map(found.map((one) => [`${one.method} ${one.template}`, one])).values()];
}

const values: Record<string, string> = {
  rev: "main",
  branch: "main",
  tag: "v1",
  num: "1",
  range: "main..main",
  oid: "a".repeat(64),
  status: "pending",
  commentId: "a".repeat(24),
};

const fill = (template: string, [owner, name]: readonly [string, string]): string =>
  template
    .replace(/:type(\{[^}]*\})?/, "datasets")
    .replace(/:owner(\{[^}]*\})?/, owner)
    .replace(/:name(\{[^}]*\})?/, name)
    .replace(/:(\w+)(\{[^}]*\})?\??/g, (_, parameter: string) => values[parameter] ?? "x")
    .replace(/\*$/, "a.txt")
    .replace(/info\/refs$/, "$&?service=git-upload-pack");

/** Routes ignore unknown fields, so one body with all fields is valid for every route. */
const bodyFor = (path: string): string =>
  JSON.stringify({
    title: "x",
    comment: "x",
    content: "x",
    message: "x",
    summary: "x",
    tag: "v2",
    reaction: "👍",
    user: "nobody",
    status: path.endsWith("/handle") ? "accepted" : "closed",
    files: path.endsWith("/lfs-files/duplicate") ? [{ sha256: values.oid }] : [],
    target: { type: "model", name: "nobody/tides" },
    repository: "nobody/tides",
    deletions: { sha: [values.oid] },
    paths: ["a.txt"],
    operation: "download",
    transfers: ["basic"],
    objects: [{ oid: values.oid, size: 1 }],
    ...{ seconds: 3_600, key: "TIDE", value: "high" },
  });

async function answerTo(method: string, path: string, token: string | undefined, name: string): Promise<string> {
  const hasBody = !["GET", "HEAD"].includes(method);
  const response = await fetch(world.origin + path, {
    method,
    redirect: "manual",
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...(hasBody && { "content-type": "application/json" }) },
    ...(hasBody && { body: bodyFor(path) }),
  });
  const { status, headers } = response;
  const kept = [...headers].filter(
    ([header]) => !["date", "x-request-id", "connection", "keep-alive", "transfer-encoding"].includes(header),
  );
  return JSON.stringify({ status, headers: kept, body: await response.text() }).replaceAll(name, "<name>");
}

test("S136 a private and a missing repository look the same at every URL", { timeout: 90_000 }, async () => {
  const [ada, stranger] = [await signedInPerson(), await signedInPerson("eve")];
  const scopes = ["read-repos", "write-repos", "manage-repos", "write-discussions", "gated-repos", "contribute-repos"];
  const input = { name: "laptop", scopes, expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(stranger.actor, stranger.id, input, from);
  const [hidden, missing] = [freshName("hidden"), freshName("hidden")];
  for (const type of ["model", "dataset", "space"] as const) {
    const repo = await someRepo(ada, { type, name: hidden, isPrivate: true });
    await commitTo(repo, ada, { "a.txt": "a" });
    await openDiscussion(ada.actor, repo, { title: "High water?" });
  }
  const all = addresses();
  for (const part of ["/settings", "/auth-check", "/tree/", "/commit/", "/discussions", "/branch/", "/info/refs", "/resolve/"]) {
    expect([part, all.some(({ template }) => template.includes(part))]).toEqual([part, true]);
  }
  expect(all.length).toBeGreaterThan(60);
  const told: string[] = [];
  for (const { method, template } of all) {
    for (const who of [undefined, token]) {
      const [there, notThere] = await Promise.all([
        answerTo(method, fill(template, [ada.username, hidden]), who, hidden),
        answerTo(method, fill(template, [ada.username, missing]), who, missing),
      ]);
      if (there !== notThere) told.push(`${method} ${template} differs: ${there} and ${notThere}`);
      const { status } = JSON.parse(there);
      // The URL of a large file's transfer is signed. Without a valid signature the response is 403.
      const refusals = template.includes("/info/lfs/objects/:oid") ? [403] : [401, 404];
      if (!refusals.includes(status)) told.push(`${method} ${template}: ${status}`);
    }
  }
  expect(told).toEqual([]);
});

const odd = [
  "%00",
  "%ED%A0%80",
  "%FF",
  "x".repeat(6_000),
  "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
  "cafe%CC%81",
  "%F0%9F%8C%8A",
  "--upload-pack=x",
  "%24(id)",
  "-1",
  "99999999999999999999",
  "%E2%80%AE",
  "'%20OR%201=1%20--",
];

test("S138 no URL causes a server error", { timeout: 120_000 }, async () => {
  const ada = await signedInPerson();
  const scopes = ["manage-repos", "write-discussions"];
  const { token } = await createPersonalAccessToken(ada.actor, ada.id, { name: "laptop", scopes, expiresInDays: 1 }, from);
  const name = freshName("tide");
  for (const type of ["model", "dataset", "space"] as const) {
    const repo = await someRepo(ada, { type, name });
    await commitTo(repo, ada, { "a.txt": "a" });
    await openDiscussion(ada.actor, repo, { title: "High water?" });
  }
  const failed: string[] = [];
  const tries = addresses()
    .filter(({ template }) => !/git-(upload|receive)-pack$|^\/api\/(datasets|spaces)\//.test(template))
    .flatMap(({ method, template }) =>
      odd.flatMap((value) => {
        const rest = template
          .replace(/:owner(\{[^}]*\})?\/:name(\{[^}]*\})?/, `${ada.username}/${name}`)
          .replace(/:type(\{[^}]*\})?/, "datasets");
        const inside = rest.replace(/:(\w+)(\{[^}]*\})?\??/g, value).replace(/\*$/, value);
        const paths = [fill(template, [ada.username, value]), fill(template, [value, name])];
        return (rest === inside ? paths : [...paths, inside]).map((path) => ({ method, path }));
      }),
    )
    .values();
  const lane = async () => {
    for (const { method, path } of tries) {
      const hasBody = !["GET", "HEAD"].includes(method);
      const response = await fetch(world.origin + path, {
        method,
        redirect: "manual",
        headers: { authorization: `Bearer ${token}`, ...(hasBody && { "content-type": "application/json" }) },
        ...(hasBody && { body: bodyFor(path) }),
      });
      await response.arrayBuffer();
      if (response.status >= 500) failed.push(`${method} ${path.slice(0, 200)}: ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  expect(failed).toEqual([]);
});
