import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { db } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { resolveRef } from "#core/hub/git/refs/git-refs.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { readRepo } from "#core/hub/repos/read-repos.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { eventsOf, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { type Caller, fileLine, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
beforeAll(async () => {
  provideSettings({ TOKEN_PREFIX: "hf_" });
  world = await startApiWorld();
});
afterAll(async () => {
  await world.stop();
  provideSettings({ TOKEN_PREFIX: "kh_" });
});

type Sent = { body?: unknown; raw?: string | Uint8Array; type?: string };

async function send(caller: Caller | undefined, method: string, path: string, { body, raw, type }: Sent = {}) {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(world.origin + path, {
    method,
    headers: {
      ...(caller && { authorization: `Bearer ${caller.accessToken}` }),
      ...(content !== undefined && { "content-type": type ?? "application/json" }),
    },
    ...(content !== undefined && { body: content as string }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

const commit = (caller: Caller | undefined, repo: Repo, raw: string | Uint8Array, rev = "main") =>
  send(caller, "POST", `/api/models/${repo.fullName}/commit/${rev}`, { raw, type: "application/x-ndjson" });

const head = async (repo: Repo) => resolveRef(await openRepository(repo), "refs/heads/main");

test.each(["model", "dataset", "space"] as const)("requests create, fill, change, move and delete a %s", async (type) => {
  const ada = await someCaller("manage-repos", "write-discussions");
  const name = `tide-${type}`;
  const created = await send(ada, "POST", "/api/repos/create", {
    body: { name, organization: null, type, private: false, ...(type === "space" && { sdk: "static" }) },
  });
  expect(created).toMatchObject({ status: 200, body: { name: `${ada.username}/${name}` } });
  const again = await send(ada, "POST", "/api/repos/create", { body: { name, organization: ada.username, type } });
  expect(again.status).toBe(409);
  const at = `/api/${type}s/${ada.username}/${name}`;

  const yaml = { content: "---\ntags: [sea]\n---\n# Tides\n", repoType: type };
  expect(await send(undefined, "POST", "/api/validate-yaml", { body: yaml })).toMatchObject({
    status: 200,
    body: { errors: [] },
  });

  const files = [
    { path: "README.md", size: 24, sample: Buffer.from(yaml.content).toString("base64") },
    { path: "model.safetensors", size: 5_000, sample: "AAAA" },
    { path: "data/empty.bin", size: 0, sample: "" },
    { path: "data/large.txt", size: 20_000_000, sample: "eA==" },
    { path: "data/binary", size: 2_000_000, sample: "AAAA" },
    { path: "build/out.txt", size: 3, sample: "eA==" },
  ];
  const planned = await send(ada, "POST", `${at}/preupload/main`, { body: { files, gitIgnore: "build/\n" } });
  expect(planned.body.files).toEqual([
    {
      path: "README.md",
      uploadMode: "regular",
      shouldIgnore: false,
      ...(type === "space" && { oid: expect.stringMatching(/^[0-9a-f]{40}$/) }),
    },
    { path: "model.safetensors", uploadMode: "lfs", shouldIgnore: false },
    { path: "data/empty.bin", uploadMode: "regular", shouldIgnore: false },
    { path: "data/large.txt", uploadMode: "lfs", shouldIgnore: false },
    { path: "data/binary", uploadMode: "lfs", shouldIgnore: false },
    { path: "build/out.txt", uploadMode: "regular", shouldIgnore: true },
  ]);

  const lines = [
    header({ summary: "Add tides", description: "" }),
    fileLine("README.md", yaml.content),
    fileLine(".gitattributes", "*.txt filter=lfs -text\nb.txt !filter\n"),
    fileLine(".gitignore", "*.log\n"),
    { key: "file", value: { path: "b.txt", content: "hé", encoding: "utf-8" } },
  ];
  const made = await send(ada, "POST", `${at}/commit/main`, { raw: ndjson(...lines), type: "application/x-ndjson" });
  expect(made).toMatchObject({ status: 200, body: { success: true, hookOutput: "" } });
  const { commitOid, commitUrl } = made.body;
  const web = type === "model" ? "" : `/${type}s`;
  expect(commitUrl).toBe(`${world.origin}${web}/${ada.username}/${name}/commit/${commitOid}`);

  const more = ["a.txt", "b.txt", "x.log", "README.md"].map((path) => ({ path, size: 10, sample: "eA==" }));
  const second = await send(ada, "POST", `${at}/preupload/main`, { body: { files: more } });
  expect(second.body.files).toEqual([
    { path: "a.txt", uploadMode: "lfs", shouldIgnore: false },
    { path: "b.txt", uploadMode: "regular", shouldIgnore: false, oid: expect.stringMatching(/^[0-9a-f]{40}$/) },
    { path: "x.log", uploadMode: "regular", shouldIgnore: true },
    { path: "README.md", uploadMode: "regular", shouldIgnore: false, oid: expect.stringMatching(/^[0-9a-f]{40}$/) },
  ]);

  const branch = `${at}/branch/${encodeURIComponent("feature/tides")}`;
  expect((await send(ada, "POST", branch, { body: {} })).body).toEqual({ ref: "refs/heads/feature/tides", commitOid });
  expect((await send(ada, "POST", branch, { body: { startingPoint: commitOid } })).status).toBe(409);
  const onBranch = ndjson(
    header({ parentCommit: commitOid }),
    { key: "deletedFile", value: { path: "b.txt" } },
    { key: "copyFile", value: { path: "copy.md", srcPath: "README.md", srcRevision: null } },
  );
  const target = `${at}/commit/${encodeURIComponent("feature/tides")}`;
  const branched = await send(ada, "POST", target, { raw: onBranch, type: "application/x-ndjson" });
  expect(branched.status).toBe(200);
  const late = await send(ada, "POST", target, { raw: onBranch, type: "application/x-ndjson" });
  expect(late).toMatchObject({ status: 412, body: { error: expect.stringContaining("The branch was updated") } });

  const tag = { body: { tag: "v1.0", message: "The first" } };
  expect((await send(ada, "POST", `${at}/tag/main`, tag)).body).toEqual({ ref: "refs/tags/v1.0", commitOid });
  expect((await send(ada, "POST", `${at}/tag/main`, tag)).status).toBe(409);
  expect((await send(ada, "DELETE", `${at}/tag/v1.0`)).status).toBe(200);
  expect(await send(ada, "DELETE", `${at}/tag/v1.0`)).toMatchObject({ status: 404 });
  expect((await send(ada, "DELETE", branch)).status).toBe(200);

  const proposal = ndjson(header({ summary: "Say more", description: "Please" }), fileLine("more.txt"));
  const proposed = await send(ada, "POST", `${at}/commit/main?create_pr=1`, { raw: proposal, type: "application/x-ndjson" });
  expect(proposed.body.pullRequestUrl).toBe(`${world.origin}${web}/${ada.username}/${name}/discussions/1`);
  const onIt = ndjson(header(), fileLine("even more.txt"));
  const pushed = await send(ada, "POST", `${at}/commit/refs%2Fpr%2F1`, { raw: onIt, type: "application/x-ndjson" });
  expect(pushed.status).toBe(200);

  const squashed = await send(ada, "POST", `${at}/super-squash/main`, { body: { message: "All of it" } });
  expect(squashed.status).toBe(200);
  const toRepo = `${ada.username}/moved-${type}`;
  const moved = await send(ada, "POST", "/api/repos/move", { body: { fromRepo: `${ada.username}/${name}`, toRepo, type } });
  expect(moved.status).toBe(200);
  const repo = (await readRepo(created.body.id)) as Repo;
  expect(repo.fullName).toBe(toRepo);
  await fsck(repo);
  const gone = await send(ada, "DELETE", "/api/repos/delete", {
    body: { name: `moved-${type}`, organization: ada.username, type },
  });
  expect(gone.status).toBe(200);
  expect(
    (await send(ada, "POST", `${at}/commit/main`, { raw: onIt, type: "application/x-ndjson" })).headers.get("x-error-code"),
  ).toBe("RepoNotFound");
});

describe("a commit", () => {
  test("is accepted in one JSON object, as older clients send it", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const at = `/api/models/${repo.fullName}/commit/main`;
    const body = {
      summary: "Add",
      files: [
        { path: "a.txt", content: "a" },
        { path: "b.txt", content: "Yg==", encoding: "base64" },
      ],
    };
    expect((await send(ada, "POST", at, { body })).status).toBe(200);
    const next = { summary: "Delete", deletedFiles: [{ path: "a.txt" }], files: [{ path: "a.txt/c", content: "c" }] };
    expect((await send(ada, "POST", at, { body: next })).status).toBe(200);
    expect((await runGit(await openRepository(repo), ["ls-tree", "-r", "--name-only", "main"])).toString()).toBe(
      "a.txt/c\nb.txt\n",
    );
  });

  test("S138 is refused if it is declared as JSON but is not one valid JSON value", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    for (const raw of [ndjson(header(), fileLine("a.txt")), "{", "", Buffer.from([0xff])]) {
      const answer = await send(ada, "POST", `/api/models/${repo.fullName}/commit/main`, { raw, type: "application/json" });
      expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining("application/x-ndjson") } });
    }
    expect(await head(repo)).toBeNull();
  });

  test("S135 requires a token with the right scope, and a refusal reveals nothing that the sender may not see", async () => {
    const [ada, bea, reader] = [await someCaller(), await someCaller(), await someCaller("read-repos")];
    const repo = await someRepo(ada, { isPrivate: true });
    const open = await someRepo(ada);
    const lines = ndjson(header(), fileLine("a.txt"));
    expect((await commit(undefined, open, lines)).status).toBe(401);
    const [hidden, absent] = [
      await commit(bea, repo, lines),
      await commit(bea, { ...repo, fullName: `${ada.username}/no` }, lines),
    ];
    expect(hidden).toMatchObject({ status: 404 });
    expect(hidden.body).toEqual(absent.body);
    expect((await commit(bea, open, lines)).status).toBe(403);
    expect((await commit({ ...ada, accessToken: reader.accessToken }, open, lines)).status).toBe(403);
    expect(await head(open)).toBeNull();
    expect(await commit(ada, open, lines, "gone")).toMatchObject({ status: 404 });
    expect((await commit(ada, open, lines, "gone")).headers.get("x-error-code")).toBe("RevisionNotFound");
  });

  test("S51 is refused with the error's line or path if it is invalid, and leaves nothing behind", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const first = fileLine("first.txt");
    const file = (value: Record<string, unknown>) => ({ key: "file", value });
    const bodies: [string, string | Uint8Array][] = [
      ["an empty body", ""],
      ["no header", ndjson(first)],
      ["only line breaks", "\n\n\n"],
      ["an invalid header", ndjson({ key: "header", value: {} })],
      ["invalid JSON", `${ndjson(header(), first)}\n{"key":`],
      [
        "not UTF-8",
        Buffer.concat([Buffer.from(`${ndjson(header(), first)}\n{"key":"file","value":{"path":"`), Buffer.from([0xff])]),
      ],
      ["an unknown key", ndjson(header(), first, { key: "chmod", value: { path: "a" } })],
      ["two headers", ndjson(header(), first, header())],
      ["a list", ndjson(header(), first, [])],
      ["null", ndjson(header(), first, null)],
      ["a path that is a number", ndjson(header(), first, file({ path: 1, content: "a" }))],
      ["invalid base64", ndjson(header(), first, file({ path: "a", content: "!!!!", encoding: "base64" }))],
      ["base64 that was cut off", ndjson(header(), first, file({ path: "a", content: "YWJjZ", encoding: "base64" }))],
      ["another encoding", ndjson(header(), first, file({ path: "a", content: "a", encoding: "utf-16" }))],
      ["a lone surrogate in a content", `${ndjson(header(), first)}\n{"key":"file","value":{"path":"a","content":"\\ud800"}}`],
      ["a lone surrogate in a path", `${ndjson(header(), first)}\n{"key":"file","value":{"path":"\\ud800","content":"a"}}`],
      ["a NUL in a path", ndjson(header(), first, fileLine("a\0b"))],
      ["a NUL in the summary", ndjson(header({ summary: "a\0" }), first)],
      ["a lone surrogate in the summary", `{"key":"header","value":{"summary":"\\udc00"}}\n${ndjson(first)}`],
      ["a long summary", ndjson(header({ summary: "x".repeat(1_000_000) }), first)],
      ["a path that leads out", ndjson(header(), first, fileLine("../../etc/passwd"))],
      ["git's folder", ndjson(header(), first, fileLine(".GIT/config"))],
      [
        "a pointer to a file that was not uploaded",
        ndjson(header(), first, { key: "lfsFile", value: { path: "a", algo: "sha256", oid: "a".repeat(64), size: 1 } }),
      ],
      [
        "a pointer by another hash",
        ndjson(header(), first, { key: "lfsFile", value: { path: "a", algo: "md5", oid: "a".repeat(64) } }),
      ],
      ["a line of 17 MiB", `${ndjson(header(), first)}\n${" ".repeat(17 * 1024 * 1024)}`],
    ];
    for (const [what, raw] of bodies) {
      const { status, body } = await commit(ada, repo, raw);
      expect([what, status >= 400 && status < 500, typeof body.error]).toEqual([what, true, "string"]);
      expect(body.error, what).toMatch(/[Ll]ine|body|path|"|summary/);
    }
    expect(await head(repo)).toBeNull();
    expect(await eventsOf(repo)).toHaveLength(1);
    await fsck(repo);
    const long = ndjson(header(), { key: "file", value: { path: "long.txt", content: "x".repeat(1_000_000) } });
    expect((await commit(ada, repo, long)).status).toBe(200);
  });

  test("S138 may have 10,000 operations, and is refused with too many", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const many = (count: number) =>
      ndjson(header(), ...Array.from({ length: count }, (_, index) => fileLine(`d${index % 50}/${index}`)));
    expect((await commit(ada, repo, many(25_001))).status).toBe(413);
    expect((await commit(ada, repo, many(10_000))).status).toBe(200);
    await fsck(repo);
    expect(await eventsOf(repo)).toHaveLength(2);
  }, 120_000);

  test("is not accepted if it arrives only in part, or if its sender disconnects", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const half = `${ndjson(header(), fileLine("a.txt"), fileLine("b.txt"))}\n`;
    for (const headers of [{ "content-length": half.length + 100 }, { "transfer-encoding": "chunked" }]) {
      await new Promise<void>((resolve) => {
        const sending = request(`${world.origin}/api/models/${repo.fullName}/commit/main`, {
          method: "POST",
          headers: { ...headers, authorization: `Bearer ${ada.accessToken}`, "content-type": "application/x-ndjson" },
        });
        sending.on("error", () => resolve());
        sending.write(half);
        setTimeout(() => sending.destroy(), 400);
        sending.on("close", () => resolve());
      });
    }
    await new Promise((passed) => setTimeout(passed, 500));
    expect(await head(repo)).toBeNull();
    expect(await eventsOf(repo)).toHaveLength(1);
    await fsck(repo);
    expect((await commit(ada, repo, half)).status).toBe(200);
  });

  test("is created, with one event, for exactly one of 20 requests with the same parent", async () => {
    const ada = await someCaller();
    const repo = await someRepo(ada);
    const { body } = await commit(ada, repo, ndjson(header(), fileLine("a.txt")));
    const lines = (index: number) => ndjson(header({ parentCommit: body.commitOid.slice(0, 7) }), fileLine(`${index}.txt`));
    const asked = await Promise.all(Array.from({ length: 20 }, (_, index) => commit(ada, repo, lines(index))));
    expect(asked.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)]);
    expect(await eventsOf(repo)).toHaveLength(3);
    await fsck(repo);
  });
});

test("a pull request is squashed by its ref, and `deletedFile` deletes a folder", async () => {
  const ada = await someCaller("manage-repos", "write-discussions");
  const repo = await someRepo(ada);
  const at = `/api/models/${repo.fullName}`;
  await commit(ada, repo, ndjson(header(), fileLine("old/a.txt"), fileLine("old/b/c.txt")));
  const proposal = ndjson(header({ summary: "Say more" }), fileLine("more.txt"));
  await send(ada, "POST", `${at}/commit/main?create_pr=1`, { raw: proposal, type: "application/x-ndjson" });
  const squashed = await send(ada, "POST", `${at}/super-squash/refs%2Fpr%2F1`, { body: { message: "All of it" } });
  expect(squashed.body).toEqual({ ref: "refs/pr/1", commitOid: expect.stringMatching(/^[0-9a-f]{40}$/) });
  const commits = await send(ada, "GET", `${at}/commits/refs%2Fpr%2F1`);
  expect(commits.body).toMatchObject([{ id: squashed.body.commitOid, title: "All of it" }]);
  expect((await send(ada, "POST", `${at}/super-squash/refs%2Fpr%2F9`, { body: {} })).status).toBe(403);
  const stranger = await someCaller("manage-repos", "write-discussions");
  expect((await send(stranger, "POST", `${at}/super-squash/refs%2Fpr%2F1`, { body: {} })).status).toBe(403);

  expect((await commit(ada, repo, ndjson(header(), { key: "deletedFile", value: { path: "old" } }))).status).toBe(200);
  expect((await send(ada, "GET", `${at}/tree/main/old`)).status).toBe(404);
});

test("the front matter of a README is checked before it is committed", async () => {
  const validate = (content: unknown, repoType: unknown = "model") =>
    send(undefined, "POST", "/api/validate-yaml", { body: { content, repoType } });
  expect(await validate("# No front matter")).toMatchObject({
    status: 200,
    body: { errors: [], warnings: [{ message: expect.any(String) }] },
  });
  expect(await validate("---\n---\n")).toMatchObject({ status: 200 });
  expect(await validate("\n \n---\nlicense: mit\ntags: [a]\n---\n")).toMatchObject({
    status: 200,
    body: { errors: [], warnings: [] },
  });
  for (const license of ["apache-2.0", "[mit, other]"]) {
    expect(await validate(`---\nlicense: ${license}\n---\n`)).toMatchObject({ status: 200, body: { warnings: [] } });
  }
  const index = (metrics: string) =>
    `model-index:\n- name: tides\n  results:\n  - task: {type: forecast}\n    dataset: {type: sea, name: Sea}\n    metrics: ${metrics}`;
  expect((await validate(`---\n${index("[{type: mae, value: 1}]")}\n---\n`)).status).toBe(200);
  for (const yaml of [
    "tags: [a",
    "- a\n- b",
    "tags: 5",
    "a: 1\na: 2",
    "sdk: [x]",
    "license: mine",
    "model-index: x",
    index("[{type: 1}]"),
  ]) {
    const { status, body } = await validate(`---\n${yaml}\n---\n`);
    expect([yaml, status, body.errors.length > 0]).toEqual([yaml, 400, true]);
  }
  const asText = await fetch(`${world.origin}/api/validate-yaml`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/plain" },
    body: JSON.stringify({ content: "---\nlicense: mine\n---\n", repoType: "model" }),
  });
  expect([asText.status, await asText.text()]).toEqual([
    400,
    expect.stringMatching(/^- Error: "license" must be one of \[apache-2.0, /),
  ]);
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
    .split("")
    .map((one, at) => `${one}: &${one} [${Array(9).fill(`*${"abcdefgh"[at]}`)}]`)
    .join("\n")}`;
  expect(await validate(`---\n${bomb}\n---\n`)).toMatchObject({ status: 400 });
  expect((await validate(5)).status).toBe(400);
  expect((await validate("---\na: 1\n---\n", "bucket")).status).toBe(400);
});

test("S137 one IP address can have front matter checked 120 times a minute", async () => {
  const validate = () => send(undefined, "POST", "/api/validate-yaml", { body: { content: "---\nlicense: mit\n---\n" } });
  expect((await validate()).status).toBe(200);
  const ofAddress = { key: { startsWith: "validate-yaml:" } };
  await db().throttle.updateMany({ where: ofAddress, data: { count: 120 } });
  const { status, headers } = await validate();
  expect(status).toBe(429);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  await db().throttle.deleteMany({ where: ofAddress });
});
