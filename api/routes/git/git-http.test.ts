import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { openPullRequest } from "#core/hub/discussions/open-pull-request.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { readRepo } from "#core/hub/repos/read-repos.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo, eventsOf, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { commit, emptyFolder, git, mustGit, remote, tokenOf, workingCopy } from "../../testing/git-client.ts";
import { startApiWorld } from "../../testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let token: string;
beforeAll(async () => {
  world = await startApiWorld();
  ada = await signedInPerson();
  token = await tokenOf(ada);
});
afterAll(() => world.stop());

const prefixes = { model: "", dataset: "/datasets", space: "/spaces" } as const;
const urlOf = (repo: Repo, withToken = token) => remote(world.origin, `${prefixes[repo.type]}/${repo.fullName}`, withToken);

async function pushedRepo(): Promise<{ repo: Repo; url: string; copy: string }> {
  const repo = await someRepo(ada);
  const copy = await workingCopy();
  const url = urlOf(repo);
  await mustGit(copy, ["push", "--quiet", url, "main"]);
  return { repo: (await readRepo(repo.id)) as Repo, url, copy };
}

type Update = { ref: string; oldSha: string | null; newSha: string | null };

async function updatesOf(repo: Repo): Promise<Update[][]> {
  const events = (await eventsOf(repo)).filter(({ scope }) => scope === "repo.content");
  return events.map(({ payload }) => (payload as { updatedRefs: Update[] }).updatedRefs);
}

describe("clone, fetch and push", () => {
  test("S137 git computes deltas only for users with an account, and anonymous callers get existing deltas", async () => {
    const repo = await someRepo(ada);
    const text = randomBytes(16_384).toString("base64");
    await commitTo(repo, ada, { "a.txt": text, "b.txt": `${text}!` });
    const path = await openRepository(repo);
    const url = `${world.origin}/${repo.fullName}`;
    const isSentAsDelta = async (...options: string[]) => {
      const into = await emptyFolder();
      await mustGit(into, [...options, "clone", "--quiet", "--bare", url, "."]);
      const [pack] = globSync(`${into}/objects/pack/*.idx`) as [string];
      return /chain length = 1: 1 object/.test(await mustGit(into, ["verify-pack", "--stat-only", pack]));
    };
    const authorization = `authorization: bearer ${token}`;
    expect(await isSentAsDelta("-c", `http.extraHeader=${authorization}`)).toBe(true);
    expect(await isSentAsDelta()).toBe(false);
    await runGit(path, ["repack", "--quiet", "-ad"]);
    expect(await isSentAsDelta()).toBe(true);
  });

  test.each(["model", "dataset", "space"] as const)("work for a %s at its URL, with and without .git", async (type) => {
    const repo = await someRepo(ada, { type });
    const copy = await workingCopy();
    const head = await mustGit(copy, ["rev-parse", "HEAD"]);
    await mustGit(copy, ["push", "--quiet", urlOf(repo), "main"]);
    const into = await emptyFolder();
    await mustGit(into, ["clone", "--quiet", `${world.origin}${prefixes[type]}/${repo.fullName}.git`, "dotted"]);
    await mustGit(into, ["clone", "--quiet", `${world.origin}${prefixes[type]}/${repo.fullName.toUpperCase()}`, "plain"]);
    if (type === "model") await mustGit(into, ["clone", "--quiet", `${world.origin}/models/${repo.fullName}`, "spelled"]);
    expect(await mustGit(`${into}/dotted`, ["rev-parse", "HEAD"])).toBe(head);
    expect(await updatesOf(repo)).toEqual([[{ ref: "refs/heads/main", oldSha: null, newSha: head }]]);
    const row = await readRepo(repo.id);
    expect(row?.headSha).toBe(head);
    expect(row?.sizeBytes).toBeGreaterThan(0);
    await fsck(repo);
  });

  test("work for an empty repository", async () => {
    const repo = await someRepo(ada);
    const into = await emptyFolder();
    expect(await git(into, ["clone", urlOf(repo), "clone"])).toMatchObject({ status: 0 });
  });

  test.each([0, 1, 2])("work with version %i of the protocol", async (version) => {
    const { url, copy } = await pushedRepo();
    const spoken = ["-c", `protocol.version=${version}`];
    const into = await emptyFolder();
    await mustGit(into, [...spoken, "clone", "--quiet", url, "clone"]);
    const head = await commit(copy, { "more.txt": "more" });
    await mustGit(copy, [...spoken, "push", "--quiet", url, "main"]);
    await mustGit(`${into}/clone`, [...spoken, "pull", "--quiet"]);
    expect(await mustGit(`${into}/clone`, ["rev-parse", "HEAD"])).toBe(head);
    const trace = await git(into, [...spoken, "ls-remote", url], { GIT_TRACE_PACKET: "1" });
    expect(trace.err.includes("version 2")).toBe(version === 2);
  });

  test("work with shallow and partial clones", async () => {
    const { url, copy } = await pushedRepo();
    for (let each = 0; each < 5; each++) await commit(copy, { "count.txt": `${each}` });
    await mustGit(copy, ["push", "--quiet", url, "main"]);
    const into = await emptyFolder();
    await mustGit(into, ["clone", "--quiet", "--depth=2", url, "shallow"]);
    expect(await mustGit(`${into}/shallow`, ["rev-list", "--count", "HEAD"])).toBe("2");
    await mustGit(`${into}/shallow`, ["fetch", "--quiet", "--unshallow"]);
    expect(await mustGit(`${into}/shallow`, ["rev-list", "--count", "HEAD"])).toBe("6");
    for (const version of [0, 2]) {
      const spoken = ["-c", `protocol.version=${version}`];
      await mustGit(into, [...spoken, "clone", "--quiet", "--filter=blob:none", "--no-checkout", url, `partial-${version}`]);
      const missing = await mustGit(`${into}/partial-${version}`, ["rev-list", "--objects", "--missing=print", "HEAD"]);
      expect(missing).toContain("?");
      expect(await mustGit(`${into}/partial-${version}`, [...spoken, "show", "HEAD:count.txt"])).toBe("4");
    }
  });

  test("a long history is negotiated, in a compressed request", async () => {
    const { url, copy } = await pushedRepo();
    const into = await emptyFolder();
    await mustGit(into, ["clone", "--quiet", url, "clone"]);
    const clone = `${into}/clone`;
    const stream = Array.from(
      { length: 400 },
      (_, index) =>
        `commit refs/heads/side\ncommitter A <a@b.c> ${2_000_000_000 + index} +0000\ndata 1\nx\nM 100644 inline f\ndata 3\n${100 + index}\n`,
    ).join("\n");
    await importStream(clone, stream);
    const head = await commit(copy, { "more.txt": "more" });
    await mustGit(copy, ["push", "--quiet", url, "main"]);
    const fetched = await git(clone, ["fetch", "origin"], { GIT_TRACE_CURL: "1" });
    expect(fetched.status).toBe(0);
    expect(fetched.err.includes("Content-Encoding: gzip")).toBe(true);
    expect(await mustGit(clone, ["rev-parse", "origin/main"])).toBe(head);
  });

  test("record tags, a force push and a deletion as one event each", async () => {
    const { repo, url, copy } = await pushedRepo();
    const first = await mustGit(copy, ["rev-parse", "HEAD"]);
    await mustGit(copy, ["tag", "light"]);
    await mustGit(copy, ["tag", "-a", "v1", "-m", "one"]);
    await mustGit(copy, ["push", "--quiet", url, "--tags"]);
    await mustGit(copy, ["checkout", "--quiet", "-b", "side"]);
    await mustGit(copy, ["push", "--quiet", url, "side"]);
    await mustGit(copy, ["commit", "--quiet", "--amend", "-m", "another", "--allow-empty"]);
    expect(await git(copy, ["push", url, "side"])).toMatchObject({ status: 1 });
    await mustGit(copy, ["push", "--quiet", "--force", url, "side"]);
    const amended = await mustGit(copy, ["rev-parse", "HEAD"]);
    await mustGit(copy, ["push", "--quiet", "--delete", url, "side", "light"]);
    const [, tags, made, forced, deleted] = await updatesOf(repo);
    expect(tags?.map(({ ref }) => ref)).toEqual(["refs/tags/light", "refs/tags/v1"]);
    expect(made).toEqual([{ ref: "refs/heads/side", oldSha: null, newSha: first }]);
    expect(forced).toEqual([{ ref: "refs/heads/side", oldSha: first, newSha: amended }]);
    expect(deleted).toEqual([
      { ref: "refs/heads/side", oldSha: amended, newSha: null },
      { ref: "refs/tags/light", oldSha: first, newSha: null },
    ]);
    expect(await updatesOf(repo)).toHaveLength(5);
    await fsck(repo);
  });

  test("--atomic changes all refs or none, and push options are accepted", async () => {
    const { repo, url, copy } = await pushedRepo();
    await mustGit(copy, ["push", "--quiet", url, "main:side"]);
    await mustGit(copy, ["commit", "--quiet", "--amend", "-m", "another", "--allow-empty"]);
    const refused = await git(copy, ["push", "--atomic", "-o", "ci.skip", url, "+HEAD:side", "HEAD:fresh", "+HEAD:main"]);
    expect(refused.status).toBe(1);
    expect(refused.err).toContain("main is protected: its history cannot be rewritten");
    expect(await updatesOf(repo)).toHaveLength(2);
    const done = await git(copy, ["push", "--atomic", "-o", "ci.skip", "-o", "topic=ü", url, "+HEAD:side", "HEAD:fresh"]);
    expect(done).toMatchObject({ status: 0 });
    expect((await updatesOf(repo)).at(-1)?.map(({ ref }) => ref)).toEqual(["refs/heads/side", "refs/heads/fresh"]);
    await fsck(repo);
  });

  test("S122 a push of 1,000 refs is one event", async () => {
    const { repo, url, copy } = await pushedRepo();
    const head = await mustGit(copy, ["rev-parse", "HEAD"]);
    const refspecs = Array.from({ length: 1_000 }, (_, index) => `HEAD:refs/tags/t${index}`);
    await mustGit(copy, ["push", "--quiet", url, ...refspecs]);
    const updates = await updatesOf(repo);
    expect(updates).toHaveLength(2);
    expect(updates[1]).toHaveLength(1_000);
    expect(updates[1]?.[999]).toEqual({ ref: "refs/tags/t999", oldSha: null, newSha: head });
    await fsck(repo);
  });

  test("the first branch that is pushed to an empty repository becomes the default, whatever its name", async () => {
    const repo = await someRepo(ada);
    const copy = await workingCopy();
    await mustGit(copy, ["push", "--quiet", urlOf(repo), "HEAD:refs/heads/trunk"]);
    expect(await readRepo(repo.id)).toMatchObject({
      defaultBranch: "trunk",
      headSha: await mustGit(copy, ["rev-parse", "HEAD"]),
    });
    const into = await emptyFolder();
    await mustGit(into, ["clone", "--quiet", urlOf(repo), "clone"]);
    expect(await mustGit(`${into}/clone`, ["branch", "--show-current"])).toBe("trunk");
    await mustGit(copy, ["push", "--quiet", urlOf(repo), "HEAD:refs/heads/main"]);
    expect(await readRepo(repo.id)).toMatchObject({ defaultBranch: "trunk" });
  });

  test("`master` becomes the default if several branches are pushed to an empty repository", async () => {
    const repo = await someRepo(ada);
    const copy = await workingCopy();
    await mustGit(copy, ["push", "--quiet", urlOf(repo), "HEAD:refs/heads/a", "HEAD:refs/heads/master", "HEAD:refs/tags/v1"]);
    expect(await readRepo(repo.id)).toMatchObject({ defaultBranch: "master" });
  });
});

describe("the messages of a push", () => {
  test("state the push's page, where to open a pull request, and how many webhooks the push has triggered", async () => {
    const { repo, url, copy } = await pushedRepo();
    const web = `${world.origin}/${repo.fullName}`;
    await commit(copy, { "a.txt": "a" });
    const silent = await git(copy, ["push", url, "main"]);
    expect(silent.err).toContain(`${web}/commit/${await mustGit(copy, ["rev-parse", "HEAD"])}`);
    expect(silent.err).not.toContain("webhook");
    for (const watchedId of [repo.id, ada.id]) {
      const webhook = await db().webhook.create({
        data: { id: newId(), ownerId: ada.id, ownerKind: "user", url: "https://example.test/", domains: ["repo"] },
      });
      await db().webhookWatch.create({ data: { webhookId: webhook.id, type: "model", watchedId } });
    }
    const branch = await git(copy, ["push", url, "HEAD:refs/heads/side"]);
    expect(branch.err).toContain("Open a pull request for side");
    expect(branch.err).toContain(`2 webhooks triggered: ${web}#webhooks`);
  });

  test("state at the repository's former URL that it has moved", async () => {
    const { repo, url, copy } = await pushedRepo();
    await db().repoFormerName.create({
      data: { ownerId: ada.id, type: "model", nameCanonical: "an-older-name", repoId: repo.id },
    });
    await commit(copy, { "a.txt": "a" });
    const pushed = await git(copy, ["push", url.replace(repo.name, "an-older-name"), "main"]);
    expect(pushed).toMatchObject({ status: 0 });
    expect(pushed.err).toContain(`Its URL is now`);
    expect(pushed.err).toContain(`${world.origin}/${repo.fullName}`);
  });
});

describe("S137 refs that a repository's policy refuses are refused one by one, with a reason", () => {
  test("a forced update or deletion of the protected default branch", async () => {
    const { repo, url, copy } = await pushedRepo();
    await mustGit(copy, ["commit", "--quiet", "--amend", "-m", "another"]);
    const forced = await git(copy, ["push", "--force", url, "main", "HEAD:refs/heads/side"]);
    expect(forced.status).toBe(1);
    expect(forced.err).toContain("main is protected: its history cannot be rewritten");
    const deleted = await git(copy, ["push", url, ":main", "HEAD:refs/heads/other"]);
    expect(deleted.err).toContain("main is protected: it cannot be deleted");
    expect((await updatesOf(repo)).slice(1).map((updates) => updates.map(({ ref }) => ref))).toEqual([
      ["refs/heads/side"],
      ["refs/heads/other"],
    ]);
    await updateRepoSettings(ada.actor, repoNameOf(repo), { isDefaultBranchProtected: false }, from);
    await mustGit(copy, ["push", "--quiet", "--force", url, "main"]);
    await mustGit(copy, ["push", "--quiet", url, ":main"]);
    expect(await readRepo(repo.id)).toMatchObject({ headSha: null });
    await fsck(repo);
  });

  test("a read-only repository", async () => {
    const { repo, url, copy } = await pushedRepo();
    await updateRepoSettings(ada.actor, repoNameOf(repo), { isReadOnly: true }, from);
    await commit(copy, { "a.txt": "a" });
    const refused = await git(copy, ["push", url, "main", "main:side"]);
    expect(refused.status).toBe(1);
    expect(refused.err.match(/this repository is read-only/g)).toHaveLength(2);
    expect(await updatesOf(repo)).toHaveLength(1);
  });

  test("refs that are not branches, tags or pull requests", async () => {
    const { repo, url, copy } = await pushedRepo();
    for (const ref of ["refs/notes/commits", "refs/keyhook/x", "refs/hidden", "refs/pr/7", "refs/pr/x", "refs/for/main"]) {
      const refused = await git(copy, ["push", url, `HEAD:${ref}`]);
      expect(refused.status, ref).toBe(1);
      expect(refused.err, ref).toMatch(/remote rejected/);
    }
    expect(await updatesOf(repo)).toHaveLength(1);
  });

  test("a pull request's ref, for users who are not its author and may not write", async () => {
    const { repo, copy } = await pushedRepo();
    const [bo, eve] = [await signedInPerson("bo"), await signedInPerson("eve")];
    const { row } = await openPullRequest(bo.actor, repo, { title: "Better", description: "", base: "main" });
    const ref = `refs/pr/${row.num}`;
    const head = await commit(copy, { "a.txt": "a" });
    const scopes = ["write-repos", "write-discussions", "read-repos"];
    const bosUrl = urlOf(repo, await tokenOf(bo, ...scopes));
    const done = await git(copy, ["push", bosUrl, `HEAD:${ref}`]);
    expect(done).toMatchObject({ status: 0 });
    expect(done.err).toContain(`/discussions/${row.num}`);
    const more = await git(copy, ["push", bosUrl, "HEAD:main"]);
    expect(more.err).toContain("you can only push to your own pull requests");
    const eves = await git(copy, ["push", urlOf(repo, await tokenOf(eve, ...scopes)), `HEAD:${ref}`]);
    expect(eves.err).toContain("403");
    await commit(copy, { "b.txt": "b" });
    expect(await git(copy, ["push", urlOf(repo), `HEAD:${ref}`])).toMatchObject({ status: 0 });
    // A merge would make the tag a parent of a commit, and such a branch cannot be cloned.
    await mustGit(copy, ["tag", "-a", "-m", "A tag", "better"]);
    for (const other of ["refs/tags/better", "HEAD^{tree}", "HEAD:a.txt"]) {
      const object = await mustGit(copy, ["rev-parse", other]);
      const refused = await git(copy, ["push", "--force", bosUrl, `${object}:${ref}`]);
      expect(refused.err, other).toContain("a pull request's ref must point to a commit");
    }
    expect((await updatesOf(repo)).flat().find(({ ref: each, newSha }) => each === ref && newSha === head)).toBeTruthy();
    await fsck(repo);
  });
});

test("hidden refs are not shown", async () => {
  const { repo, url, copy } = await pushedRepo();
  const head = await mustGit(copy, ["rev-parse", "HEAD"]);
  await runGit(await openRepository(repo), ["update-ref", "refs/internal/kept", head]);
  for (const version of [0, 2]) {
    expect(await mustGit(copy, ["-c", `protocol.version=${version}`, "ls-remote", url])).not.toContain("internal");
  }
});

test("S137 exactly one of several concurrent pushes to a ref is accepted, with one event", async () => {
  const { repo, url, copy } = await pushedRepo();
  const rivals = await Promise.all(
    Array.from({ length: 5 }, async (_, index) => {
      const into = await emptyFolder();
      await mustGit(into, ["clone", "--quiet", url, "clone"]);
      await commit(`${into}/clone`, { "who.txt": `${index}` });
      return `${into}/clone`;
    }),
  );
  const runs = await Promise.all(rivals.map((clone) => git(clone, ["push", "origin", "HEAD:main"])));
  expect(runs.filter(({ status }) => status === 0)).toHaveLength(1);
  const updates = await updatesOf(repo);
  expect(updates).toHaveLength(2);
  await mustGit(copy, ["fetch", "--quiet", url, "main"]);
  expect(updates[1]?.[0]?.newSha).toBe(await mustGit(copy, ["rev-parse", "FETCH_HEAD"]));
  await mustGit(copy, ["push", "--quiet", url, "HEAD:refs/heads/side"]);
  const deletions = await Promise.all(rivals.map((clone) => git(clone, ["push", "origin", ":side"])));
  expect(deletions.filter(({ status }) => status === 0).length).toBeGreaterThanOrEqual(1);
  expect((await updatesOf(repo)).slice(3)).toHaveLength(1);
  await fsck(repo);
});

test("a push and an operation over the API at the same time are both recorded", async () => {
  const { repo, url, copy } = await pushedRepo();
  await commit(copy, { "a.txt": "a" });
  await Promise.all([
    git(copy, ["push", url, "main:one"]),
    commitTo(repo, ada, { "b.txt": "b" }),
    git(copy, ["push", url, "main:two"]),
  ]);
  expect(
    (await updatesOf(repo))
      .flat()
      .map(({ ref }) => ref)
      .sort(),
  ).toEqual(["refs/heads/main", "refs/heads/main", "refs/heads/one", "refs/heads/two"]);
  await fsck(repo);
});

const repoNameOf = ({ type, owner, name }: Repo) => ({ type, owner: owner.handle, name });

async function importStream(directory: string, stream: string): Promise<void> {
  const child = spawn("git", ["fast-import", "--quiet"], { cwd: directory, stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.end(stream);
  await new Promise((resolve) => child.once("close", resolve));
}
