import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { z } from "@hono/zod-openapi";
import { downloadFile, listCommits, listFiles, modelInfo, pathsInfo } from "@huggingface/hub";
import { commitSchema, refsSchema, repoInfoSchema, type Scope, treeEntrySchema } from "@keyhook/sdk";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { downloads } from "#core/hub/git/queues.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { createCommit } from "#core/hub/git/write/create-commit.ts";
import { storeLfsObject } from "#core/hub/lfs/objects/record-lfs-object.ts";
import { lfsPointerTo } from "#core/hub/lfs/parse-lfs-pointer.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson & { accessToken: string };
let repo: Repo;
let first: string;
let head: string;

const large = randomBytes(3 * 1024 * 1024 + 17);
const kept = randomBytes(200_000);
const lfs = { oid: createHash("sha256").update(kept).digest("hex"), size: kept.length };
const html = "<!doctype html><script>alert(1)</script>";
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const png = Buffer.from("89504e470d0a1a0a0000", "hex");

beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
  ada = await somebody("read-repos");
  repo = await someRepo(ada);
  await storeLfsObject(repo.id, lfs, Readable.from([kept]));
  first = await commitTo(
    repo,
    ada,
    { "README.md": "---\ntags: [sea]\nlibrary_name: tide\n---\n# Tides\n" },
    { message: "One\n\nmore" },
  );
  head = await commitTo(
    repo,
    ada,
    {
      "page.html": html,
      "picture.svg": svg,
      "picture.png": png,
      "large.bin": large,
      "kept.bin": lfsPointerTo(lfs),
      "data/a b/ü 🌊.txt": "0123456789",
      empty: "",
      "run.ts": "export {};\n",
      "not-text.txt": Buffer.from([0xff, 0, 1]),
    },
    { message: "Two" },
  );
  const path = await openRepository(repo);
  for (const ref of ["refs/heads/feature/x", "refs/pr/1", "refs/tags/v1"]) await runGit(path, ["update-ref", ref, first]);
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

async function somebody(...scopes: Scope[]) {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes, expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input, from);
  return { ...person, accessToken: token };
}

const send = (path: string, init: RequestInit = {}) => fetch(world.origin + path, { redirect: "manual", ...init });
const withToken = ({ accessToken }: { accessToken: string }): RequestInit => ({
  headers: { authorization: `Bearer ${accessToken}` },
});
const api = (rest = "", of = repo) => `/api/models/${of.fullName}${rest}`;
const file = (rest: string, of = repo) => `/${of.fullName}/resolve/${rest}`;
const refusal = async (answer: Response) => [answer.status, answer.headers.get("x-error-code")];
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

describe("a commit that only a pull request reaches", () => {
  test("can still be read by its SHA, and no response presents it as the owner's", async () => {
    const path = await openRepository(repo);
    const identity = { GIT_AUTHOR_NAME: "E", GIT_AUTHOR_EMAIL: "e@b.c", GIT_COMMITTER_NAME: "E", GIT_COMMITTER_EMAIL: "e@b.c" };
    const made = await runGit(path, ["commit-tree", `${head}^{tree}`, "-p", head, "-m", "Mine"], { env: identity });
    const theirs = made.toString().trim();
    await runGit(path, ["update-ref", "refs/pr/7", theirs]);
    const hints = (revision: string) =>
      Promise.all(
        [file(`${revision}/README.md`), `/${repo.fullName}/raw/${revision}/README.md`, api(`/revision/${revision}`)]
          .concat(api(`/tree/${revision}`), api(`/commits/${revision}`))
          .map(async (address) => {
            const answer = await send(address);
            expect(answer.status, address).toBe(200);
            return answer.headers.get("x-repo-commit-on-branch");
          }),
      );
    await vi.waitFor(async () => expect(await hints(theirs)).toEqual(Array(5).fill("false")));
    for (const revision of [first, head, "v1", "refs%2Fpr%2F7"]) expect(await hints(revision)).toEqual(Array(5).fill(null));
    await runGit(path, ["update-ref", "-d", "refs/pr/7"]);
  });
});

describe("information about a repository", () => {
  test("has the form that clients expect, at the head and at a revision", async () => {
    const body = await (await send(api())).json();
    expect(repoInfoSchema.parse(body)).toMatchObject({
      _id: repo.id,
      id: repo.fullName,
      author: ada.username,
      sha: head,
      private: false,
      gated: false,
      disabled: false,
      tags: ["sea"],
      cardData: { tags: ["sea"], library_name: "tide" },
    });
    expect(body).toMatchObject({ library_name: "tide" });
    expect(body.siblings.map(({ rfilename }: { rfilename: string }) => rfilename)).toContain("data/a b/ü 🌊.txt");
    const old = await (await send(api("/revision/v1?blobs=true"))).json();
    expect(old).toMatchObject({ sha: first, siblings: [{ rfilename: "README.md", size: 47 }] });
    const sized = await (await send(api("/revision/main?blobs=true"))).json();
    const sibling = sized.siblings.find(({ rfilename }: { rfilename: string }) => rfilename === "kept.bin");
    expect(sibling).toMatchObject({ size: lfs.size, lfs: { sha256: lfs.oid, size: lfs.size } });
    expect(await (await send(api("?expand[]=likes"))).json()).not.toHaveProperty("siblings");
    await expect(modelInfo({ name: repo.fullName, hubUrl: world.origin })).resolves.toMatchObject({
      name: repo.fullName,
      likes: 0,
    });
  });

  test("S137 names that are too long for one response are left out, and the rest is returned", async () => {
    const of = await someRepo(ada);
    const path = await openRepository(of);
    const hash = async (input: string) => (await runGit(path, ["mktree", "-z"], { input })).toString().trim();
    const blob = (await runGit(path, ["hash-object", "-w", "--stdin"], { input: "x" })).toString().trim();
    const folder = await hash(Array.from({ length: 2_500 }, (_, at) => `100644 blob ${blob}\tf${at}\0`).join(""));
    const tree = await hash(`040000 tree ${folder}\t${"n".repeat(4_000)}\0`);
    const env = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@b.c", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@b.c" };
    const sha = (await runGit(path, ["commit-tree", tree, "-m", "long"], { env })).toString().trim();
    await runGit(path, ["update-ref", "refs/heads/main", sha]);
    for (const rest of ["", "/revision/main?blobs=true"]) {
      const body = await (await send(api(rest, of))).json();
      expect(repoInfoSchema.parse(body)).toMatchObject({ id: of.fullName, sha });
      expect(body).not.toHaveProperty("siblings");
    }
    const pages = await all(listFiles({ repo: of.fullName, recursive: true, hubUrl: world.origin }));
    expect(pages).toHaveLength(2_501);
  });

  test("an empty Space has a URL and no files, and another platform's Space lists no files", async () => {
    const space = await someRepo(ada, { type: "space", sdk: "static" });
    const body = await (await send(`/api/spaces/${space.fullName}`)).json();
    expect(body).toMatchObject({
      sdk: "static",
      subdomain: expect.any(String),
      runtime: { stage: "NO_APP_FILE" },

      siblings: [],
    });
    const platform = await db().platform.create({
      data: { id: "a".repeat(24), name: "p", source: "p", tokenHash: "t", last4: "1234" },
    });
    await db().repo.update({ where: { id: space.id }, data: { platformId: platform.id, externalId: "1" } });
    const elsewhere = await send(`/api/spaces/${space.fullName}`);
    expect(elsewhere.status).toBe(200);
    expect((await send(`/api/spaces/${space.fullName}/tree/main`)).status).toBe(409);
  });
});

describe("lists", () => {
  test("can be read at once, or page by page through Link, if they list files", async () => {
    const body = z.array(treeEntrySchema).parse(await (await send(api("/tree/main?recursive=true&expand=true"))).json());
    expect(body.find(({ path }) => path === "kept.bin")).toMatchObject({ type: "file", size: lfs.size, lfs: { oid: lfs.oid } });
    expect(body.find(({ path }) => path === "README.md")?.lastCommit).toMatchObject({ id: first, title: "One" });
    const paths: string[] = [];
    for (let next: string | undefined = world.origin + api("/tree/main?recursive=1&limit=3"); next; ) {
      const answer: Response = await fetch(next);
      paths.push(...((await answer.json()) as { path: string }[]).map(({ path }) => path));
      next = /<(.+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    expect(paths).toEqual(body.map(({ path }) => path));
    const client = { repo: repo.fullName, hubUrl: world.origin };
    expect((await all(listFiles({ ...client, recursive: true }))).map(({ path }) => path)).toEqual(paths);
    const below = await (await send(api("/tree/main/data/a%20b"))).json();
    expect(below).toMatchObject([{ path: "data/a b/ü 🌊.txt", size: 10 }]);
    for (const revision of ["refs%2Fpr%2F1", "refs/pr/1", "feature%2Fx", "v1", first]) {
      expect((await (await send(api(`/tree/${revision}`))).json()) as unknown, revision).toMatchObject([{ path: "README.md" }]);
    }
  });

  test("contain the entries at the paths that the request sent as a form or as JSON", async () => {
    const paths = ["data", "data/a b/ü 🌊.txt", "none", "/kept.bin"];
    const json = await pathsInfo({ repo: repo.fullName, hubUrl: world.origin, paths, expand: true });
    expect(json.map(({ type, path, lastCommit }) => [type, path, lastCommit?.id])).toEqual([
      ["directory", "data", head],
      ["file", "data/a b/ü 🌊.txt", head],
      ["file", "kept.bin", head],
    ]);
    const form = new URLSearchParams(paths.map((path) => ["paths", path]));
    const answer = await send(api("/paths-info/main"), { method: "POST", body: form });
    expect(await answer.json()).toMatchObject([{ path: "data" }, { path: "data/a b/ü 🌊.txt" }, { path: "kept.bin" }]);
    for (const [type, body] of [
      ["application/json", "{"],
      ["application/json", '{"paths":1}'],
      ["application/json", JSON.stringify({ paths: Array(1_001).fill("a") })],
    ] as const) {
      const refused = await send(api("/paths-info/main"), { method: "POST", body, headers: { "content-type": type } });
      expect(refused.status, body.slice(0, 20)).toBe(400);
    }
  });

  test("name the next page under ORIGIN, although a request behind a TLS proxy is http", async () => {
    provideSettings({ ORIGIN: "https://hub.example.com" });
    const answer = await send(api("/commits/main?limit=1"));
    provideSettings({ ORIGIN: world.origin });
    expect(answer.headers.get("link")).toMatch(/^<https:\/\/hub\.example\.com\/api\//);
  });

  test("state the number of commits, and list branches, tags and pull requests as refs", async () => {
    const answer = await send(api("/commits/main?limit=1&expand[]=formatted"));
    expect(z.array(commitSchema).parse(await answer.json())).toMatchObject([{ id: head, title: "Two", parents: [first] }]);
    expect(answer.headers.get("x-total-count")).toBe("2");
    const next = /<(.+)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1] as string;
    const last = await fetch(next);
    expect(await last.json()).toMatchObject([{ id: first, title: "One", message: "more", formatted: { message: "more" } }]);
    expect(last.headers.get("link")).toBeNull();
    const listed = await all(listCommits({ repo: repo.fullName, hubUrl: world.origin, batchSize: 1 }));
    expect(listed.map(({ oid }) => oid)).toEqual([head, first]);
    const refs = refsSchema.parse(await (await send(api("/refs?include_prs=1"))).json());
    expect(refs).toEqual({
      branches: [
        { name: "main", ref: "refs/heads/main", targetCommit: head },
        { name: "feature/x", ref: "refs/heads/feature/x", targetCommit: first },
      ],
      tags: [{ name: "v1", ref: "refs/tags/v1", targetCommit: first }],
      converts: [],
      pullRequests: [{ name: "1", ref: "refs/pr/1", targetCommit: first }],
    });
    expect(await (await send(api("/refs"))).json()).not.toHaveProperty("pullRequests");
    const patch = await send(api("/compare/feature%2Fx...main"));
    expect(await patch.text()).toContain("+export {};");
    expect((await send(api("/compare/main"))).status).toBe(400);
  });

  test("are empty for an empty repository", async () => {
    const empty = await someRepo(ada);
    for (const rest of ["/tree/main", "/tree/main?expand=1&recursive=1", "/commits/main"]) {
      const answer = await send(api(rest, empty));
      expect([answer.status, await answer.json()], rest).toEqual([200, []]);
    }
    expect(await (await send(api("/refs", empty))).json()).toEqual({ branches: [], tags: [], converts: [] });
    expect(await refusal(await send(file("main/a", empty)))).toEqual([404, "EntryNotFound"]);
  });
});

describe("a file", () => {
  test("is sent with its commit, ETag and size, in whole, in part or as not modified", async () => {
    const path = "main/data/a%20b/%C3%BC%20%F0%9F%8C%8A.txt";
    const whole = await send(file(path));
    expect(await whole.text()).toBe("0123456789");
    const etag = whole.headers.get("etag") as string;
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "x-repo-commit": head,
      "content-length": "10",
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "content-disposition": `inline; filename="_ __.txt"; filename*=UTF-8''%C3%BC%20%F0%9F%8C%8A.txt`,
    });
    expect(whole.headers.get("access-control-expose-headers")).toContain("X-Repo-Commit");
    const headOnly = await send(file(path), { method: "HEAD" });
    expect([headOnly.status, headOnly.headers.get("content-length"), headOnly.headers.get("etag")]).toEqual([200, "10", etag]);
    const ranges: Record<string, [number, string, string | null]> = {
      "bytes=0-0": [206, "0", "bytes 0-0/10"],
      "bytes=2-4": [206, "234", "bytes 2-4/10"],
      "bytes=8-": [206, "89", "bytes 8-9/10"],
      "bytes=-3": [206, "789", "bytes 7-9/10"],
      "bytes=-99": [206, "0123456789", "bytes 0-9/10"],
      "bytes=5-99": [206, "56789", "bytes 5-9/10"],
      "bytes=10-": [416, "", "bytes */10"],
      "bytes=-0": [416, "", "bytes */10"],
      "bytes=4-2": [200, "0123456789", null],
      "bytes=0-1,3-4": [200, "0123456789", null],
      "lines=1-2": [200, "0123456789", null],
    };
    for (const [range, [status, text, contentRange]] of Object.entries(ranges)) {
      const part = await send(file(path), { headers: { range } });
      expect([part.status, await part.text(), part.headers.get("content-range")], range).toEqual([status, text, contentRange]);
    }
    const changed = await send(file(path), { headers: { range: "bytes=0-0", "if-range": '"other"' } });
    expect(changed.status).toBe(200);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await send(file(path), { headers: { "if-none-match": tag } });
      expect([again.status, await again.text(), again.headers.get("etag")], tag).toEqual([304, "", etag]);
    }
  });

  test("is streamed from any requested position if it is large", async () => {
    expect((await bytesOf(await send(file("main/large.bin")))).equals(large)).toBe(true);
    for (const [start, end] of [
      [0, 0],
      [1_000_000, 2_000_000],
      [large.length - 5, large.length - 1],
    ] as const) {
      const part = await send(file("main/large.bin"), { headers: { range: `bytes=${start}-${end}` } });
      expect(part.headers.get("content-length")).toBe(String(end - start + 1));
      expect((await bytesOf(part)).equals(large.subarray(start, end + 1))).toBe(true);
    }
    const controller = new AbortController();
    const answer = await send(file("main/large.bin"), { signal: controller.signal });
    await answer.body?.getReader().read();
    controller.abort();
  });

  test("S137 takes a slot until it has been read if it is larger than 64 KiB or in Git LFS", async () => {
    const [other, medium] = [await someRepo(ada), "tide\n".repeat(50_000)];
    await commitTo(other, ada, { "medium.txt": medium });
    const places = [];
    for (let each = 0; downloads.counts.taken < 64; each++) {
      places.push(await downloads.take({ party: { key: `account ${each}`, isAnonymous: false } }));
    }
    try {
      expect(await (await send(file("main/page.html"))).text()).toBe(html);
      const asked = await send(file("main/medium.txt", other), { method: "HEAD" });
      expect(asked.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const waiting = [file("main/medium.txt", other), file("main/kept.bin")].map((path) => send(path));
      await vi.waitFor(() => expect(downloads.counts.waiting).toBe(2), 5_000);
      for (const release of places.splice(0)) release();
      const [one, two] = await Promise.all(waiting.map(async (answer) => bytesOf(await answer)));
      expect(one?.toString()).toBe(medium);
      expect(two?.equals(kept)).toBe(true);
    } finally {
      for (const release of places) release();
    }
    await vi.waitFor(() => expect(downloads.counts.taken).toBe(0), 5_000);
  });

  test("in Git LFS is sent as its content, and by `raw` as its pointer", async () => {
    const answer = await send(file("main/kept.bin"));
    expect((await bytesOf(answer)).equals(kept)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      etag: `"${lfs.oid}"`,
      "x-linked-etag": `"${lfs.oid}"`,
      "x-linked-size": String(lfs.size),
      "content-length": String(lfs.size),
    });
    const part = await send(file("main/kept.bin"), { headers: { range: "bytes=100-199" } });
    expect((await bytesOf(part)).equals(kept.subarray(100, 200))).toBe(true);
    const raw = await send(`/${repo.fullName}/raw/main/kept.bin`);
    expect(await raw.text()).toBe(lfsPointerTo(lfs));
    expect(raw.headers.get("x-linked-etag")).toBeNull();
    const lost = await someRepo(ada);
    await commitTo(lost, ada, { "kept.bin": lfsPointerTo(lfs) });
    expect(await refusal(await send(file("main/kept.bin", lost)))).toEqual([404, "EntryNotFound"]);
  });

  test("S137 in Git LFS is sent only up to its pointer's size, because clients would read more as another response", async () => {
    const other = await someRepo(ada);
    await storeLfsObject(other.id, lfs, Readable.from([kept]));
    const name = { type: other.type, owner: ada.username, name: other.name };
    const content = Buffer.from(lfsPointerTo({ ...lfs, size: 10 }));
    const operations = [{ type: "file", path: "kept.bin", content } as const];
    await createCommit(ada.actor, name, { revision: "main", summary: "Shorten", operations });
    expect(await refusal(await send(file("main/kept.bin", other)))).toEqual([404, "EntryNotFound"]);
    expect(await refusal(await send(file("main/kept.bin", other), { method: "HEAD" }))).toEqual([404, "EntryNotFound"]);
  });

  test("is downloaded by the JavaScript client, whether small, large, empty or in Git LFS", async () => {
    const client = { repo: repo.fullName, hubUrl: world.origin };
    for (const [path, bytes] of [
      ["run.ts", Buffer.from("export {};\n")],
      ["large.bin", large],
      ["kept.bin", kept],
      ["empty", Buffer.alloc(0)],
    ] as const) {
      const blob = await downloadFile({ ...client, path });
      expect(Buffer.from((await blob?.arrayBuffer()) as ArrayBuffer).equals(bytes), path).toBe(true);
    }
    expect(await downloadFile({ ...client, path: "none" })).toBeNull();
  });

  test("S137 cannot run as a script on our origin", async () => {
    const types = {
      "page.html": ["text/plain; charset=utf-8", "inline"],
      "picture.svg": ["text/plain; charset=utf-8", "inline"],
      "run.ts": ["text/plain; charset=utf-8", "inline"],
      "picture.png": ["image/png", "inline"],
      "large.bin": ["application/octet-stream", "attachment"],
      "not-text.txt": ["application/octet-stream", "attachment"],
      "kept.bin": ["application/octet-stream", "attachment"],
    };
    for (const [path, [type, disposition]] of Object.entries(types)) {
      for (const method of ["resolve", "raw"]) {
        const { headers } = await send(`/${repo.fullName}/${method}/main/${path}`, { method: "HEAD" });
        expect(headers.get("content-security-policy"), path).toBe("sandbox; default-src 'none'");
        expect(headers.get("x-content-type-options"), path).toBe("nosniff");
        if (method === "raw" && path === "kept.bin") continue;
        expect([headers.get("content-type"), headers.get("content-disposition")?.split(";")[0]], path).toEqual([
          type,
          disposition,
        ]);
      }
    }
    const download = await send(file("main/page.html?download=true"), { method: "HEAD" });
    expect(download.headers.get("content-disposition")).toMatch(/^attachment;/);
  });
});

describe("who may read", () => {
  test("S136 a private repository looks nonexistent at every URL to users who may not read it", async () => {
    const secret = await someRepo(ada, { isPrivate: true });
    await commitTo(secret, ada, { a: "hidden" });
    const bea = await somebody("read-repos");
    const unscoped = await somebody("profile");
    const gets = [
      api("", secret),
      ...["/revision/main", "/tree/main", "/commits/main", "/refs", "/compare/main...main"].map((rest) => api(rest, secret)),
    ];
    for (const path of [...gets, file("main/a", secret), file("main/none", secret), file("none/a", secret)]) {
      const absent = await send(path.replace(secret.name, "no-such-repo"));
      for (const init of [{}, withToken(bea), withToken(unscoped)]) {
        const answer = await send(path, init);
        expect(await refusal(answer), path).toEqual([404, "RepoNotFound"]);
      }
      expect(await refusal(absent)).toEqual([404, "RepoNotFound"]);
      if (!path.includes("none")) expect((await send(path, withToken(ada))).status, path).toBe(200);
    }
    const mine = await send(file("main/a", secret), withToken(ada));
    expect(mine.headers.get("cache-control")).toBe("private, no-cache");
    const cookie = `${siteSessionCookie().name}=${ada.token}`;
    expect((await send(file("main/a", secret), { headers: { cookie } })).status).toBe(200);
    expect((await send(api("/tree/main", secret), { headers: { cookie } })).status).toBe(404);
    expect((await send(file("main/a", secret), { headers: { cookie: `${siteSessionCookie().name}=x` } })).status).toBe(404);
  });

  test("everybody sees the names of a gated repository's files, and only users with access see their content", async () => {
    const gated = await someRepo(ada);
    await commitTo(gated, ada, { a: "for some" });
    await db().repo.update({ where: { id: gated.id }, data: { gated: "manual" } });
    const bea = await somebody("gated-repos", "write-discussions");
    for (const rest of ["", "/tree/main", "/commits/main", "/refs"])
      expect((await send(api(rest, gated))).status, rest).toBe(200);
    expect(await (await send(api("", gated))).json()).toMatchObject({ gated: "manual" });
    for (const path of [file("main/a", gated), `/${gated.fullName}/raw/main/a`, api("/compare/main...main", gated)]) {
      expect((await send(path)).status, path).toBe(401);
      expect(await refusal(await send(path, withToken(bea))), path).toEqual([403, "GatedRepo"]);
    }
    const copy = { key: "copyFile", value: { path: "README.md", srcPath: "a" } };
    const propose = () =>
      send(api("/commit/main?create_pr=1", gated), {
        method: "POST",
        headers: { ...withToken(bea).headers, "content-type": "application/x-ndjson" },
        body: [{ key: "header", value: { summary: "Copy" } }, copy].map((line) => JSON.stringify(line)).join("\n"),
      });
    expect(await refusal(await propose())).toEqual([403, "GatedRepo"]);
    await db().accessRequest.create({ data: { id: "b".repeat(24), repoId: gated.id, userId: bea.id, status: "accepted" } });
    expect(await (await send(file("main/a", gated), withToken(bea))).text()).toBe("for some");
    expect((await propose()).status).toBe(200);
  });

  test("S135 a proposal to a gated repository tells a user without access neither its .gitignore nor its large files", async () => {
    const gated = await someRepo(ada);
    await commitTo(gated, ada, { ".gitignore": "tides/\n", ".gitattributes": "*.csv filter=lfs\n" });
    const oid = "c".repeat(64);
    await db().lfsObject.create({ data: { repoId: gated.id, oid, sizeBytes: 5, location: "local:c" } });
    await db().repo.update({ where: { id: gated.id }, data: { gated: "manual" } });
    const bea = await somebody("gated-repos", "write-discussions");
    const post = (path: string, type: string, body: string) =>
      send(api(path, gated), { method: "POST", headers: { ...withToken(bea).headers, "content-type": type }, body });
    const plan = async () => {
      const files = ["tides/a", "b.csv"].map((path) => ({ path, size: 3 }));
      const answer = await post("/preupload/main?create_pr=1", "application/json", JSON.stringify({ files }));
      return (await answer.json()).files.map(({ uploadMode, shouldIgnore }: Record<string, unknown>) => [
        uploadMode,
        shouldIgnore,
      ]);
    };
    const propose = async (of: string) => {
      const file = { key: "lfsFile", value: { path: "large", algo: "sha256", oid: of, size: 7 } };
      const lines = [{ key: "header", value: { summary: "Add" } }, file].map((line) => JSON.stringify(line));
      const answer = await post("/commit/main?create_pr=1", "application/x-ndjson", lines.join("\n"));
      return [answer.status, await answer.text()];
    };
    expect(await plan()).toEqual([
      ["regular", false],
      ["regular", false],
    ]);
    expect(await propose(oid)).toEqual(await propose("d".repeat(64)));
    await db().accessRequest.create({ data: { id: newId(), repoId: gated.id, userId: bea.id, status: "accepted" } });
    expect(await plan()).toEqual([
      ["regular", true],
      ["lfs", false],
    ]);
    expect(await propose(oid)).not.toEqual(await propose("d".repeat(64)));
  });

  test("clients can distinguish a missing repository, revision and file", async () => {
    const cases: [string, string][] = [
      [`/api/models/${ada.username}/none`, "RepoNotFound"],
      [`/api/datasets/${repo.fullName}`, "RepoNotFound"],
      [`/datasets/${repo.fullName}/resolve/main/README.md`, "RepoNotFound"],
      ...["models/none", "models/none/revision/main", "spaces/none/tree/main"].map((path): [string, string] => [
        `/api/${path}`,
        "RepoNotFound",
      ]),
      ["/datasets/none/resolve/main/README.md", "RepoNotFound"],
      [api("/revision/none"), "RevisionNotFound"],
      [api("/tree/none"), "RevisionNotFound"],
      [api("/tree/main%5E"), "RevisionNotFound"],
      [api("/commits/--all"), "RevisionNotFound"],
      [api("/tree/main/none"), "EntryNotFound"],
      [api("/tree/main/README.md"), "EntryNotFound"],
      [api("/commits/main/none"), "EntryNotFound"],
      [file("none/README.md"), "RevisionNotFound"],
      [file("main/none"), "EntryNotFound"],
      [file("main/data"), "EntryNotFound"],
      [file("main/"), "EntryNotFound"],
      [file("main/%2e%2e%2f%2e%2e%2fconfig"), "EntryNotFound"],
      [file("main/..%5c..%5cconfig"), "EntryNotFound"],
      [file("main//etc/passwd"), "EntryNotFound"],
      [file(`main/${"x".repeat(5_000)}`), "EntryNotFound"],
    ];
    for (const [path, code] of cases) expect(await refusal(await send(path)), path).toEqual([404, code]);
  });

  test("S138 no request gets a 5xx", async () => {
    const odd = ["%00", "%ff", "%", "..", "%2e%2e", "🌊", "a%0Ab", "'", "%22", "-x", "@{0}", "x".repeat(2_000), "%ED%A0%80"];
    for (const part of odd) {
      for (const path of [
        api(`/tree/${part}`),
        api(`/tree/main/${part}`),
        api(`/commits/${part}?p=-1&limit=x`),
        file(`${part}/a`),
        file(`main/${part}`),
      ]) {
        const { status } = await send(path);
        expect(status, path).toBeGreaterThanOrEqual(200);
        expect(status, path).toBeLessThan(500);
      }
    }
    for (const query of ["p=1e99", "p=-5", "limit=1e99", "p=x&limit=x"]) {
      expect((await send(api(`/commits/main?${query}`))).status, query).toBe(200);
    }
    expect((await send(api("/tree/main?cursor=%25%25"))).status).toBe(400);
    expect((await send(api("/tree/main?limit=-1"))).status).toBe(200);
  });

  test("S53 the preflight and the responses allow requests from every origin", async () => {
    const preflight = await send(file("main/README.md"), {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.test",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization, range",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("range");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    const missing = await send(file("main/none"), { headers: { origin: "https://elsewhere.test" } });
    expect(missing.headers.get("access-control-allow-origin")).toBe("*");
  });
});
