import { hash, randomBytes } from "node:crypto";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { from, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db, pool } from "#core/db.ts";
import { provideSettings } from "#core/env.ts";
import { bodyBudget } from "#core/fair-queue/body-budget.ts";
import { fetches, pushes } from "#core/hub/git/queues.ts";
import { listRefs } from "#core/hub/git/refs/git-refs.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { pktLine } from "#core/hub/git/smart-http/pkt-line.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo, eventsOf, fsck, someRepo, unfoldingRepo } from "#core/hub/testing/repos.ts";
import { revokeTokenAtOrganization } from "#core/oauth/leaks/revoke-token-at-organization.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { commit, emptyFolder, git, mustGit, remote, tokenOf, workingCopy } from "../../testing/git-client.ts";
import { startApiWorld } from "../../testing/start-api-world.ts";

/** S137: hostile input gets a response, changes nothing and is not recorded. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let token: string;
let repo: Repo;
let head: string;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await signedInPerson();
  token = await tokenOf(ada);
});
afterAll(() => world.stop());
beforeEach(async () => {
  repo = await someRepo(ada);
  head = await commitTo(repo, ada, { "README.md": "# Tide\n" });
});
afterEach(() => provideSettings({ GIT_MAX_FILE_MB: "10", GIT_MAX_PUSH_MB: "2048" }));

const ZERO = "0".repeat(40);
const CAPABILITIES = "report-status side-band-64k agent=test/1";
const url = () => remote(world.origin, `/${repo.fullName}`, token);

type Answer = { status: number; body: string; headers: Record<string, unknown> };
type Sent = {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: Buffer;
  cutAfter?: number;
  meanwhile?: () => Promise<unknown>;
};

/** Node's own client leaves paths and bytes unchanged and can disconnect in the middle. */
function send({
  path = `/${repo.fullName}/git-receive-pack`,
  method = "POST",
  headers = {},
  body,
  cutAfter,
  meanwhile,
}: Sent): Promise<Answer> {
  const service = path.split("/").at(-1);
  return new Promise((resolve, reject) => {
    const all = {
      authorization: `Basic ${Buffer.from(`x:${token}`).toString("base64")}`,
      ...(method === "POST" && { "content-type": `application/x-${service}-request` }),
      ...(body && { "content-length": String(body.length) }),
      ...headers,
    };
    const req = request(world.origin, { path, method, headers: all, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk) => chunks.push(chunk));
      res.on("end", () =>
        resolve({ status: res.statusCode ?? 0, body: Buffer.concat(chunks).toString("latin1"), headers: res.headers }),
      );
      res.on("error", reject);
    });
    req.on("error", (error) => (cutAfter === undefined ? reject(error) : resolve({ status: 0, body: "", headers: {} })));
    if (body && meanwhile) {
      const half = body.length / 2;
      req.write(
        body.subarray(0, half),
        () =>
          void delay(300)
            .then(meanwhile)
            .then(() => req.end(body.subarray(half)), reject),
      );
    } else if (cutAfter === undefined) req.end(body);
    else req.write((body as Buffer).subarray(0, cutAfter), () => setTimeout(() => req.destroy(), 50));
  });
}

const placesTaken = () => fetches.counts.taken + pushes.counts.taken;

const command = (ref: string, newSha: string, oldSha = ZERO) => `${oldSha} ${newSha} ${ref}`;

function pushBody(commands: string[], pack: Buffer = Buffer.alloc(0), capabilities = CAPABILITIES): Buffer {
  const lines = commands.map((each, index) => pktLine(index === 0 ? `${each}\0 ${capabilities}` : each));
  return Buffer.concat([...lines, Buffer.from("0000"), pack]);
}

async function packOf(files: Record<string, string | Buffer>): Promise<{ sha: string; pack: Buffer }> {
  const copy = await workingCopy(files);
  const sha = await mustGit(copy, ["rev-parse", "HEAD"]);
  await mustGit(copy, ["repack", "-adq"]);
  const folder = join(copy, ".git/objects/pack");
  const name = (await readdir(folder)).find((each) => each.endsWith(".pack")) as string;
  return { sha, pack: await readFile(join(folder, name)) };
}

function packWith(...objects: Buffer[]): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(objects.length);
  const body = Buffer.concat([Buffer.from("PACK\0\0\0\x02", "latin1"), count, ...objects]);
  return Buffer.concat([body, hash("sha1", body, "buffer")]);
}

/** The type and size that precede an object in a pack (gitformat-pack). */
function objectHeader(type: number, size: bigint): Buffer {
  const bytes: number[] = [];
  let rest = size >> 4n;
  let first = (type << 4) | Number(size & 15n);
  if (rest > 0n) first |= 0x80;
  bytes.push(first);
  while (rest > 0n) {
    const byte = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? byte | 0x80 : byte);
  }
  return Buffer.from(bytes);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 0x80);
  }
}

async function expectUntouched(): Promise<void> {
  const path = await openRepository(repo);
  expect([...(await listRefs(path))]).toEqual([["refs/heads/main", head]]);
  expect((await eventsOf(repo)).filter(({ scope }) => scope === "repo.content")).toHaveLength(1);
  expect(await db().refUpdate.count({ where: { repoId: repo.id } })).toBe(0);
  await expect.poll(async () => (await readdir(join(path, "objects"))).filter((name) => /tmp|incoming/.test(name))).toEqual([]);
  await fsck(repo);
}

describe("an invalid pack is refused", () => {
  test("if its second half is missing", async () => {
    const { sha, pack } = await packOf({ "a.bin": Buffer.alloc(50_000, "tide") });
    const body = pushBody([command("refs/heads/side", sha)], pack.subarray(0, pack.length / 2));
    const answer = await send({ body });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("ng refs/heads/side");
    await expectUntouched();
  });

  test("if its client disconnects in the middle", async () => {
    const { sha, pack } = await packOf({
      "a.bin": randomBytes(60_000),
    });
    const body = pushBody([command("refs/heads/side", sha)], pack);
    await send({ body, cutAfter: 30_000 });
    await expect.poll(placesTaken).toBe(0);
    await expectUntouched();
  });

  test.each([
    ["if it is garbage", Buffer.from("this is no pack".repeat(100))],
    ["if it has no bytes", Buffer.alloc(0)],
    ["if it has no objects", packWith()],
    ["if its trailer is wrong", Buffer.concat([packWith().subarray(0, 12), Buffer.alloc(20)])],
    ["if it claims four thousand million objects", Buffer.from("PACK\0\0\0\x02\xff\xff\xff\xff", "latin1")],
  ])("%s", async (_, pack) => {
    const answer = await send({ body: pushBody([command("refs/heads/side", "1".repeat(40))], pack) });
    expect(answer.status).toBe(200);
    expect(answer.body).toContain("ng refs/heads/side");
    await expectUntouched();
  });

  test("if it lacks objects that its commit needs", async () => {
    const copy = await workingCopy({ "unsent.txt": "not sent" });
    const sha = await mustGit(copy, ["rev-parse", "HEAD"]);
    const raw = Buffer.from(`${await mustGit(copy, ["cat-file", "commit", sha])}\n`);
    const pack = packWith(Buffer.concat([objectHeader(1, BigInt(raw.length)), deflateSync(raw)]));
    expect(hash("sha1", Buffer.concat([Buffer.from(`commit ${raw.length}\0`), raw]))).toBe(sha);
    const answer = await send({ body: pushBody([command("refs/heads/side", sha)], pack) });
    expect(answer.body).toMatch(/ng refs\/heads\/side (missing necessary objects|unpacker error)/);
    await expectUntouched();
  });

  test("if it has a file named .. or .git", async () => {
    for (const name of ["..", ".git"]) {
      const copy = await workingCopy();
      const blob = await mustGit(copy, ["hash-object", "-w", "README.md"]);
      const tree = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, "hex")]);
      await writeFile(join(copy, "tree"), tree);
      const treeSha = await mustGit(copy, ["hash-object", "-w", "-t", "tree", "--literally", "tree"]);
      const sha = await mustGit(copy, ["commit-tree", treeSha, "-m", "x"]);
      const pushed = await git(copy, ["push", url(), `${sha}:refs/heads/side`]);
      expect(pushed.status, name).not.toBe(0);
      await expectUntouched();
    }
  });
});

describe("S135 a push is refused if its user lost the right meanwhile:", () => {
  const half = async () => {
    const noise = randomBytes(60_000);
    const { sha, pack } = await packOf({ "a.bin": noise });
    return pushBody([command("refs/heads/side", sha)], pack);
  };

  test("because the user is no longer a member of the organization", async () => {
    const [owner, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const organization = await organizationOf(owner, [[bea, "write"]]);
    repo = await someRepo(owner, { owner: organization.name });
    head = await commitTo(repo, owner, { "README.md": "# Tide\n" });
    const authorization = `Basic ${Buffer.from(`x:${await tokenOf(bea)}`).toString("base64")}`;
    const leave = () => db().membership.deleteMany({ where: { userId: bea.id } });
    const answer = await send({ body: await half(), headers: { authorization }, meanwhile: leave });
    expect(answer.body).toContain("ng refs/heads/side you can only push to your own pull requests");
    await expectUntouched();
  });

  test("S114 because the token was revoked", async () => {
    for (const scheme of ["Basic", "Bearer"]) {
      const own = await tokenOf(ada);
      const credentials = scheme === "Basic" ? Buffer.from(`x:${own}`).toString("base64") : own;
      const revoke = () =>
        db().personalAccessToken.updateMany({ where: { tokenHash: hashToken(own) }, data: { revokedAt: new Date() } });
      const answer = await send({
        body: await half(),
        headers: { authorization: `${scheme} ${credentials}` },
        meanwhile: revoke,
      });
      expect(answer.body).toContain("ng refs/heads/side the token of this push is no longer valid");
      await expectUntouched();
    }
  });

  test("S114 because the token lost its scope or was blocked by the organization", async () => {
    const [owner, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const organization = await organizationOf(owner, [[bea, "write"]]);
    repo = await someRepo(owner, { owner: organization.name });
    head = await commitTo(repo, owner, { "README.md": "# Tide\n" });
    const narrow = (tokenHash: string) =>
      db().personalAccessToken.updateMany({ where: { tokenHash }, data: { scopes: ["read-repos"] } });
    const cutOff = (_: string, own: string) => revokeTokenAtOrganization(owner.actor, organization.id, { token: own }, from);
    for (const change of [narrow, cutOff]) {
      const own = await tokenOf(bea);
      const answer = await send({
        body: await half(),
        headers: { authorization: `Bearer ${own}` },
        meanwhile: () => change(hashToken(own), own) as Promise<unknown>,
      });
      expect(answer.body).toContain("ng refs/heads/side you can only push to your own pull requests");
      await expectUntouched();
    }
  });

  test("because the repository became read-only", async () => {
    const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
    const meanwhile = () => updateRepoSettings(ada.actor, name, { isReadOnly: true }, from);
    const answer = await send({ body: await half(), meanwhile });
    expect(answer.body).toContain("ng refs/heads/side this repository is read-only");
    await expectUntouched();
  });

  test("because the branch became protected", async () => {
    const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
    const protect = (isDefaultBranchProtected: boolean) =>
      updateRepoSettings(ada.actor, name, { isDefaultBranchProtected }, from);
    await protect(false);
    const { sha, pack } = await packOf({ "a.bin": randomBytes(60_000) });
    const answer = await send({
      body: pushBody([command("refs/heads/main", sha, head)], pack),
      meanwhile: () => protect(true),
    });
    expect(answer.body).toContain("ng refs/heads/main main has just become protected: push again");
    await expectUntouched();
  });

  /** Blocks the last check, which is that of storage, until `change` is done. */
  const sendWhileChecked = async (options: Parameters<typeof send>[0], change: () => Promise<unknown>) => {
    const blocker = await pool().connect();
    onTestFinished(() => blocker.release(true));
    const block = () => blocker.query("select pg_advisory_lock(hashtextextended('storage ' || $1, 0))", [repo.owner.id]);
    const sent = send({ ...options, meanwhile: block });
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    await expect.poll(async () => (await pool().query(waiting)).rowCount).toBe(1);
    await change();
    await blocker.query("select pg_advisory_unlock_all()");
    return sent;
  };

  test("because the branch became protected while the pack was checked", async () => {
    const name = { type: repo.type, owner: repo.owner.handle, name: repo.name };
    const protect = (isDefaultBranchProtected: boolean) =>
      updateRepoSettings(ada.actor, name, { isDefaultBranchProtected }, from);
    await protect(false);
    const { sha, pack } = await packOf({ "a.bin": randomBytes(60_000) });
    const body = pushBody([command("refs/heads/main", sha, head)], pack);
    const answer = await sendWhileChecked({ body }, () => protect(true));
    expect(answer.body).toContain("ng refs/heads/main main has just become protected: push again");
    await expectUntouched();
  });

  test("because the token was revoked while the pack was checked, and no storage stays reserved", async () => {
    const own = await tokenOf(ada);
    const headers = { authorization: `Basic ${Buffer.from(`x:${own}`).toString("base64")}` };
    const answer = await sendWhileChecked({ body: await half(), headers }, () =>
      db().personalAccessToken.updateMany({ where: { tokenHash: hashToken(own) }, data: { revokedAt: new Date() } }),
    );
    expect(answer.body).toContain("ng refs/heads/side the token of this push is no longer valid");
    expect(await db().storageHold.count({ where: { ownerId: repo.owner.id } })).toBe(0);
    await expectUntouched();
  });
});

describe("a push that exceeds the limits", () => {
  test("is refused with the name of a file that is too large", async () => {
    provideSettings({ GIT_MAX_FILE_MB: "1" });
    const copy = await workingCopy({ "weights.bin": Buffer.alloc(1024 * 1024 + 1), "fits.bin": Buffer.alloc(1024 * 1024, 1) });
    const pushed = await git(copy, ["push", url(), "HEAD:refs/heads/side"]);
    expect(pushed.status).toBe(1);
    expect(pushed.err).toContain("weights.bin (1.0 MiB)");
    expect(pushed.err).not.toContain("fits.bin");
    expect(pushed.err).toContain("Git LFS");
    expect(pushed.err).toMatch(/! \[remote rejected\] HEAD -> side \(a file is too large\)/);
    await expectUntouched();
  });

  test("is refused with advice if a folder's list is larger than 16 MiB", async () => {
    const copy = await workingCopy({ "a.txt": "a" });
    const blob = await mustGit(copy, ["rev-parse", "HEAD:a.txt"]);
    const list = Array.from({ length: 80_000 }, (_, at) => `100644 blob ${blob}\t${at}${"x".repeat(200)}\n`);
    await writeFile(join(copy, ".git/list"), list.join(""));
    const tree = await mustGit(copy, ["-c", "alias.wide=!git mktree < .git/list", "wide"]);
    const commit = await mustGit(copy, ["commit-tree", tree, "-m", "wide"]);
    const pushed = await git(copy, ["push", url(), `${commit}:refs/heads/side`]);
    expect(pushed.err).toContain(`The folder ${tree} has too many entries`);
    await expectUntouched();
  });

  test("is refused with advice if an annotated tag or a commit is larger than 1 MiB", async () => {
    const copy = await workingCopy({ "a.txt": "a" });
    await writeFile(join(copy, ".git/message"), `${"x".repeat(1100 * 1024)}\n`);
    await mustGit(copy, ["tag", "-a", "-F", ".git/message", "v1"]);
    const tag = await git(copy, ["push", url(), "v1"]);
    expect(tag.err).toMatch(/The tag [0-9a-f]{40} is larger than 1 MiB\. Create it again with a shorter message/);
    await mustGit(copy, ["commit", "--allow-empty", "-q", "-F", ".git/message"]);
    const pushed = await git(copy, ["push", url(), "HEAD:refs/heads/side"]);
    expect(pushed.err).toMatch(/! \[remote rejected\] HEAD -> side \(a commit is too large\)/);
    await expectUntouched();
  });

  test("is refused if it has so many objects that git keeps their pack", async () => {
    provideSettings({ GIT_MAX_FILE_MB: "1" });
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`f${index}`, `${index}`]));
    const copy = await workingCopy({ ...many, "weights.bin": Buffer.alloc(2 * 1024 * 1024) });
    const pushed = await git(copy, ["push", url(), "HEAD:refs/heads/side"]);
    expect(pushed.err).toContain("weights.bin (2.0 MiB)");
    await expectUntouched();
  });

  test("is refused if its twenty kilobytes unpack to twenty megabytes", async () => {
    const bomb = Buffer.alloc(20 * 1024 * 1024);
    const header = Buffer.from(`blob ${bomb.length}\0`);
    const blob = hash("sha1", Buffer.concat([header, bomb]));
    const tree = Buffer.concat([Buffer.from("100644 bomb\0"), Buffer.from(blob, "hex")]);
    const treeSha = hash("sha1", Buffer.concat([Buffer.from(`tree ${tree.length}\0`), tree]));
    const raw = Buffer.from(`tree ${treeSha}\nauthor A <a@b.c> 1 +0000\ncommitter A <a@b.c> 1 +0000\n\nx\n`);
    const sha = hash("sha1", Buffer.concat([Buffer.from(`commit ${raw.length}\0`), raw]));
    const object = (type: number, content: Buffer) =>
      Buffer.concat([objectHeader(type, BigInt(content.length)), deflateSync(content)]);
    const pack = packWith(object(1, raw), object(2, tree), object(3, bomb));
    expect(pack.length).toBeLessThan(80_000);
    const answer = await send({ body: pushBody([command("refs/heads/side", sha)], pack) });
    expect(answer.body).toContain("bomb (20.0 MiB)");
    expect(answer.body).toContain("ng refs/heads/side a file is too large");
    await expectUntouched();
  });

  test("is refused if its small files are too large together", async () => {
    provideSettings({ GIT_MAX_PUSH_MB: "1" });
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, Buffer.alloc(1024 * 1024, index)]));
    const pushed = await git(await workingCopy(files), ["push", url(), "HEAD:refs/heads/side"]);
    expect(pushed.err).toContain("unpacks to more than 8 MiB");
    await expectUntouched();
  });

  test("is refused if its pack is too large", async () => {
    provideSettings({ GIT_MAX_PUSH_MB: "1" });
    const noise = randomBytes(3 * 1024 * 1024);
    const pushed = await git(await workingCopy({ "noise.bin": noise }), ["push", url(), "HEAD:refs/heads/side"]);
    expect(pushed.status).not.toBe(0);
    await expectUntouched();
    const { sha, pack } = await packOf({ "noise.bin": noise.subarray(0, 1024 * 1024 + 100_000) });
    const body = pushBody([command("refs/heads/side", sha)], pack);
    expect((await send({ body })).body).toMatch(/exceeds maximum allowed size|larger than 1 MiB/);
    await expectUntouched();
  });

  test("is refused if its objects claim to have terabytes", async () => {
    const tera = 1n << 40n;
    const base = Buffer.from("base");
    const baseSha = hash("sha1", Buffer.concat([Buffer.from("blob 4\0"), base]), "buffer");
    const delta = Buffer.concat([varint(4n), varint(tera), Buffer.from([0x90, 4])]);
    const packs = [
      packWith(Buffer.concat([objectHeader(3, tera), deflateSync(Buffer.from("short"))])),
      packWith(Buffer.concat([objectHeader(2, 1n << 31n), deflateSync(Buffer.from("short"))])),
      packWith(
        Buffer.concat([objectHeader(3, 4n), deflateSync(base)]),
        Buffer.concat([objectHeader(7, BigInt(delta.length)), baseSha, deflateSync(delta)]),
      ),
    ];
    for (const pack of packs) {
      const answer = await send({ body: pushBody([command("refs/heads/side", "1".repeat(40))], pack) });
      expect(answer.body).toContain("ng refs/heads/side");
      await expectUntouched();
    }
  });
});

describe("a fetch", () => {
  test("ends for a tree with ten billion paths, and is refused with a filter that would visit every path", async () => {
    const hostile = remote(world.origin, `/${(await unfoldingRepo(ada)).fullName}`, token);
    const into = await emptyFolder();
    const blob = hash("sha1", "blob 1\0x");
    for (const filter of ["blob:none", "blob:limit=1k", "tree:0", "tree:16", "object:type=commit"])
      await mustGit(into, ["clone", "--quiet", "--bare", `--filter=${filter}`, hostile, filter.replace(/\W/g, "-")]);
    for (const filter of [`sparse:oid=${blob}`, "combine:blob:none+tree:3", "tree:17"]) {
      const { status, err } = await git(into, ["clone", "--quiet", "--bare", `--filter=${filter}`, hostile, "refused"]);
      expect(status).not.toBe(0);
      expect(err).toMatch(/not supported|max depth 16/);
    }
    await expect.poll(placesTaken).toBe(0);
  });

  test("gets a response to a compressed request of a hundred megabytes, and releases its slot", async () => {
    const path = `/${repo.fullName}/git-upload-pack`;
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, "0009done\n"));
    const answer = await send({ path, body: bomb, headers: { "content-encoding": "gzip" } });
    expect(answer.status).toBeLessThan(500);
    await expect.poll(placesTaken).toBe(0);
  });
});

describe("names", () => {
  test.each([
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/%2e%2e",
    "/ada/..%2f..%2f..%2fetc%2fpasswd",
    "/ada/%2e%2e%2fx.git",
    "/datasets/..%2f/x",
    "/ada/x%00y",
    "/ada/%ff",
    "/ada/x;touch%20y",
    `/ada/${"x".repeat(5_000)}`,
    "/ada/.git",
    "/-/--upload-pack=x",
  ])("S137 %s leads nowhere", async (path) => {
    for (const suffix of ["/info/refs?service=git-upload-pack", "/info/refs?service=git-receive-pack"]) {
      const answer = await send({ path: path + suffix, method: "GET" });
      expect([400, 401, 404]).toContain(answer.status);
    }
    const answer = await send({ path: `${path}/git-receive-pack`, body: Buffer.from("0000") });
    expect([400, 401, 404]).toContain(answer.status);
  });

  test("S137 a ref's name may contain characters of the shell, which have no effect", async () => {
    const names = [
      "$(touch$IFS.x)",
      ";touch",
      "`touch`",
      "a|b",
      "a&b",
      "'a'",
      '"a"',
      "a$HOME",
      "<a>",
      "ä-😀",
      "a=b",
      "%00",
      "a,b",
      "#a",
    ];
    const { sha, pack } = await packOf({ "a.txt": "a" });
    const answer = await send({
      body: pushBody(
        names.map((name) => command(`refs/heads/${name}`, sha)),
        pack,
      ),
    });
    for (const name of names) expect(Buffer.from(answer.body, "latin1").toString("utf8")).toContain(`ok refs/heads/${name}\n`);
    const path = await openRepository(repo);
    const branches = [...(await listRefs(path, "refs/heads/")).keys()].map((ref) => ref.slice(11));
    expect(branches.sort()).toEqual(["main", ...names].sort());
    await expect(access(join(path, "x"))).rejects.toThrow();
    const event = (await eventsOf(repo)).at(-1)?.payload as { updatedRefs: { ref: string }[] };
    expect(event.updatedRefs.map(({ ref }) => ref)).toEqual(names.map((name) => `refs/heads/${name}`));
    await fsck(repo);
  });

  test("S137 each ref whose name git does not allow is refused separately", async () => {
    const bad = [
      "a b",
      "a..b",
      "-a",
      "a/",
      "/a",
      "a//b",
      ".a",
      "a.lock",
      "a~1",
      "a^",
      "a:b",
      "a?",
      "a*",
      "a[",
      "a\\b",
      "a@{b",
      "a.",
      "@",
      "HEAD",
      "x".repeat(300),
      "a\x01b",
      "a\x7f",
      "../../../etc/x",
      `${"a/".repeat(16)}a`,
    ];
    const refs = [...bad.map((name) => `refs/heads/${name}`), "HEAD", "refs/heads", "main", "refs/../x", "refs/pr/1/x", "config"];
    const answer = await send({ body: pushBody(refs.map((ref) => command(ref, head))) });
    for (const ref of refs) expect(answer.body).toContain(`ng ${ref} `);
    await expectUntouched();
  });

  test("S51 a ref's name that is not UTF-8 is refused", async () => {
    const line = Buffer.concat([
      Buffer.from(`${ZERO} ${head} refs/heads/`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`\0 ${CAPABILITIES}`),
    ]);
    const answer = await send({ body: Buffer.concat([pktLine(line), Buffer.from("0000")]) });
    expect(answer.body).toContain("ng refs/heads/\xff\xfe the name is not UTF-8");
    await expectUntouched();
  });
});

describe("a request that git would not send", () => {
  const good = () => command("refs/heads/side", head);
  test.each<[string, () => Sent]>([
    ["no length", () => ({ body: Buffer.from("zzzz") })],
    ["an impossible length", () => ({ body: Buffer.from("0003") })],
    ["a length that does not match", () => ({ body: Buffer.from("00ffabc") })],
    ["a line that is not a command", () => ({ body: Buffer.concat([pktLine("hello"), Buffer.from("0000")]) })],
    ["a signed push", () => ({ body: Buffer.concat([pktLine("push-cert\0x"), Buffer.from("0000")]) })],
    ["a hash of 64 digits", () => ({ body: pushBody([`${"0".repeat(64)} ${"1".repeat(64)} refs/heads/x`]) })],
    ["the same ref twice", () => ({ body: pushBody([good(), good()]) })],
    ["the Content-Type text/plain", () => ({ body: pushBody([good()]), headers: { "content-type": "text/plain" } })],
    ["an unknown Content-Encoding", () => ({ body: pushBody([good()]), headers: { "content-encoding": "br" } })],
  ])("S51 is refused if it has %s", async (_, sent) => {
    expect((await send(sent())).status).toBe(400);
    await expectUntouched();
  });

  test("is accepted even if it arrives in pieces of a few bytes", async () => {
    const body = pushBody([good()], packWith(), "report-status");
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/x-git-receive-pack-request",
        "content-length": String(body.length),
      };
      const path = `/${repo.fullName}/git-receive-pack`;
      const req = request(world.origin, { path, method: "POST", agent: false, headers }, (res) => {
        let said = "";
        res.on("data", (chunk) => (said += chunk)).on("end", () => resolve(said));
      });
      req.on("error", reject);
      req.setNoDelay(true);
      const sendFrom = (at: number) => {
        if (at >= body.length) return req.end();
        req.write(body.subarray(at, at + 7), () => setTimeout(() => sendFrom(at + 7), 2));
      };
      sendFrom(0);
    });
    expect(answer).toContain("ok refs/heads/side");
    await fsck(repo);
  });

  test("is refused if it changes too many refs", async () => {
    const commands = Array.from({ length: 10_001 }, (_, index) => command(`refs/tags/${index}`, head));
    expect((await send({ body: pushBody(commands) })).status).toBe(413);
    await expectUntouched();
  });

  test("S137 endless lists of commands use only their account's share of the memory for bodies", async () => {
    const beginning = Buffer.from(pktLine(`shallow ${head}`).toString().repeat(75_000));
    const refused: (number | undefined)[] = [];
    const begun: ClientRequest[] = [];
    for (let each = 0; each < 12; each++) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-git-receive-pack-request" };
      const path = `/${repo.fullName}/git-receive-pack`;
      const req = request(world.origin, { path, method: "POST", agent: false, headers });
      req.on("response", (res) => refused.push(res.resume().statusCode)).on("error", () => undefined);
      req.write(beginning);
      begun.push(req);
    }
    await expect.poll(() => refused.length, { timeout: 20_000 }).toBeGreaterThan(2);
    expect(new Set(refused)).toEqual(new Set([503]));
    expect(refused.length).toBeLessThan(8);
    expect(bodyBudget.takenBytes).toBeLessThanOrEqual(128 * 1024 * 1024);
    for (const req of begun) req.destroy();
    await expect.poll(() => bodyBudget.takenBytes).toBe(0);
  });

  test("S137 a repository with the maximum number of refs refuses a new ref, but lets a ref be deleted", async () => {
    const path = await openRepository(repo);
    const name = (index: number) => `refs/tags/${"x".repeat(200)}/${"y".repeat(190)}${String(index).padStart(6, "0")}`;
    const refs = Array.from({ length: 51_000 }, (_, index) => `${head} ${name(index)}\n`);
    await writeFile(join(path, "packed-refs"), `# pack-refs with: sorted \n${refs.join("")}`);
    const more = await send({ body: pushBody([command("refs/heads/side", head)], packWith()) });
    expect(more.body).toContain("at most 50,000 branches, tags and pull requests. This one has 51,001. Delete some");
    expect(more.body).toContain("ng refs/heads/side too many refs");
    expect(pushes.counts.taken).toBe(0);
    const moved = [command(name(7), ZERO, head), command("refs/heads/side", head)];
    expect((await send({ body: pushBody(moved, packWith()) })).body).toContain("ok refs/heads/side");
  });

  test("causes no server error if its gzip or its Git-Protocol is invalid", async () => {
    const answer = await send({ body: Buffer.from("no gzip"), headers: { "content-encoding": "gzip" } });
    expect(answer.status).toBeLessThan(500);
    for (const header of ["version=9", "version=2\tx", "x".repeat(5_000), "version=2:touch=$(x)", "=;"]) {
      const path = `/${repo.fullName}/info/refs?service=git-upload-pack`;
      expect((await send({ path, method: "GET", headers: { "git-protocol": header } })).status).toBe(200);
    }
    await expectUntouched();
  });

  test("a push without a report is recorded, and a push without a side band gets its report", async () => {
    await send({ body: pushBody([command("refs/heads/one", head)], packWith(), "agent=x") });
    const answer = await send({ body: pushBody([command("refs/heads/two", head)], packWith(), "report-status") });
    expect(answer.body).toBe("000eunpack ok\n0016ok refs/heads/two\n0000");
    expect((await eventsOf(repo)).filter(({ scope }) => scope === "repo.content")).toHaveLength(3);
    await fsck(repo);
  });

  test("is refused if it deletes a missing ref, or updates a ref from a commit that is not current", async () => {
    const gone = await send({ body: pushBody([command("refs/heads/nothing", ZERO, head)]) });
    expect(gone.body).toContain("ng refs/heads/nothing there is no such ref");
    const stale = await send({ body: pushBody([command("refs/heads/main", head, "2".repeat(40))]) });
    expect(stale.body).toContain("ng refs/heads/main");
    await expectUntouched();
  });
});

describe("S137 the machine is shared", () => {
  test("when too many transfers are in progress, the next is told to retry", async () => {
    const held: Promise<() => void>[] = [];
    for (let other = 0; fetches.counts.waiting === 0; other++)
      held.push(fetches.take({ party: { key: `other ${other}`, isAnonymous: false } }));
    const refused = new Set<string>();
    for (let each = 0; each < 1_000 && refused.size === 0; each++) {
      const waiting = fetches.take({ party: { key: `account ${ada.id}`, isAnonymous: false } });
      held.push(waiting);
      waiting.catch((error: Error) => refused.add(error.message));
      await delay(0);
    }
    const path = `/${repo.fullName}/info/refs?service=git-upload-pack`;
    const answer = await send({ path, method: "GET" });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(answer.body).toMatch(/requests of this kind are waiting.*try again/);
    for (const slot of held)
      void slot.then(
        (release) => release(),
        () => undefined,
      );
    await expect.poll(placesTaken).toBe(0);
    expect((await send({ path, method: "GET" })).status).toBe(200);
  });

  test("a client that disconnects during a clone ends git", async () => {
    const noise = randomBytes(4 * 1024 * 1024);
    const large = await commitTo(repo, ada, { "noise.bin": noise });
    const asked = Buffer.concat([pktLine(`want ${large} side-band-64k ofs-delta\n`), Buffer.from("0000"), pktLine("done\n")]);
    await new Promise<void>((resolve, reject) => {
      const req = request(
        `${world.origin}/${repo.fullName}/git-upload-pack`,
        { method: "POST", agent: false, headers: { "content-type": "application/x-git-upload-pack-request" } },
        (res) => {
          res.once("data", () => {
            expect(placesTaken()).toBe(1);
            req.destroy();
            resolve();
          });
          res.on("error", () => undefined);
        },
      );
      req.on("error", reject);
      req.end(asked);
    });
    await expect.poll(placesTaken).toBe(0);
  });
});

test("S137 a push that cannot be checked is refused with a reason, and releases its slot", async () => {
  const { sha, pack } = await packOf({ "a.txt": "a" });
  const rename = (from: string, to: string) => asOwner(`ALTER TABLE ${from} RENAME TO ${to}`);
  try {
    const answer = await send({
      body: pushBody([command("refs/heads/side", sha)], pack),
      meanwhile: () => rename("storage_hold", "storage_hold_away"),
    });
    expect(answer.body).toContain("went wrong on our side. Try again");
    expect(answer.body).toContain("ng refs/heads/side the push could not be checked");
  } finally {
    await rename("storage_hold_away", "storage_hold");
  }
  expect(pushes.counts.taken).toBe(0);
  await expectUntouched();
});

test("a push to a repository that is deleted meanwhile fails", async () => {
  const copy = await workingCopy();
  const hook = await emptyFolder();
  await writeFile(join(hook, "pre-push"), "#!/bin/sh\nsleep 1\n", { mode: 0o755 });
  const pushing = git(copy, ["-c", `core.hooksPath=${hook}`, "push", url(), "HEAD:refs/heads/side"]);
  await delay(500);
  await db().repo.delete({ where: { id: repo.id } });
  expect((await pushing).status).not.toBe(0);
  await commit(copy, { "a.txt": "a" });
});
