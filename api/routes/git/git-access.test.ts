import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { from, organizationOf, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { commitTo, eventsOf, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { commit, emptyFolder, git, mustGit, remote, tokenOf, workingCopy } from "../../testing/git-client.ts";
import { startApiWorld } from "../../testing/start-api-world.ts";

/** S135, S136. */
let world: Awaited<ReturnType<typeof startApiWorld>>;
let ada: TestPerson;
let eve: TestPerson;
let open: Repo;
let hidden: Repo;
beforeAll(async () => {
  world = await startApiWorld();
  [ada, eve] = [await signedInPerson("ada"), await signedInPerson("eve")];
  open = await someRepo(ada);
  hidden = await someRepo(ada, { isPrivate: true });
  for (const repo of [open, hidden]) await commitTo(repo, ada, { "README.md": "# Tide\n" });
});
afterAll(() => world.stop());

const urlOf = (repo: Repo, token?: string) => remote(world.origin, `/${repo.fullName}`, token);

async function infoRefs(path: string, service: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.origin}${path}/info/refs?service=${service}`, { headers });
  return { status: response.status, body: await response.text(), challenge: response.headers.get("www-authenticate") };
}

const basic = (token: string, user = "any") => ({ authorization: `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}` });

test("anybody can clone public repositories, and nobody pushes without credentials", async () => {
  const into = await emptyFolder();
  await mustGit(into, ["clone", "--quiet", urlOf(open), "clone"]);
  await commit(`${into}/clone`, { "a.txt": "a" });
  const pushed = await git(`${into}/clone`, ["push", "origin", "HEAD:main"]);
  expect(pushed.status).not.toBe(0);
  expect(pushed.err).toContain("could not read Username");
  expect(await infoRefs(`/${open.fullName}`, "git-receive-pack")).toMatchObject({
    status: 401,
    challenge: expect.stringMatching(/^Basic realm="/),
  });
});

test("S136 private and missing repositories get the same 401 without credentials", async () => {
  for (const service of ["git-upload-pack", "git-receive-pack"]) {
    const [secret, none, nobody] = await Promise.all([
      infoRefs(`/${hidden.fullName}`, service),
      infoRefs(`/${ada.username}/nothing`, service),
      infoRefs("/nobody-here/nothing", service),
    ]);
    expect(secret.status).toBe(401);
    expect(secret).toEqual(none);
    expect(secret).toEqual(nobody);
  }
});

test("S136 a private repository looks nonexistent with another user's credentials", async () => {
  const headers = basic(await tokenOf(eve, "manage-repos", "write-repos", "read-repos", "write-discussions"));
  for (const service of ["git-upload-pack", "git-receive-pack"]) {
    const secret = await infoRefs(`/${hidden.fullName}`, service, headers);
    expect(secret.status).toBe(404);
    expect(secret).toEqual(await infoRefs(`/${ada.username}/nothing`, service, headers));
    const post = (path: string) =>
      fetch(`${world.origin}${path}/${service}`, {
        method: "POST",
        headers: { ...headers, "content-type": `application/x-${service}-request` },
        body: "0000",
      });
    expect((await post(`/${hidden.fullName}`)).status).toBe(404);
    expect((await post(`/${ada.username}/nothing`)).status).toBe(404);
  }
});

test("the owner clones a private repository with the token as a bearer token, or as the password under any name", async () => {
  const token = await tokenOf(ada, "read-repos");
  for (const user of ["hf_user", "x", ada.username, "%40"]) {
    const into = await emptyFolder();
    await mustGit(into, ["clone", "--quiet", remote(world.origin, `/${hidden.fullName}`, token, user), "clone"]);
  }
  const into = await emptyFolder();
  await mustGit(into, ["-c", `http.extraHeader=authorization: bearer ${token}`, "clone", "--quiet", urlOf(hidden), "clone"]);
});

describe("invalid credentials", () => {
  test("are refused with a sentence that git shows", async () => {
    const into = await emptyFolder();
    const refused = await git(into, ["clone", urlOf(hidden, "kh_nonsense"), "clone"]);
    expect(refused.status).not.toBe(0);
    expect(refused.err).toMatch(/Authentication failed|could not read/);
  });

  test("S51 are refused in every malformed form", async () => {
    const token = await tokenOf(ada);
    const sent = ["Basic", "Basic !", "Basic Og==", `Basic ${"A".repeat(9_000)}`, "Digest x", `Bearer ${token}x`, "Bearer", ","];
    for (const authorization of [...sent, `Basic ${Buffer.from("a:b\0c").toString("base64")}`]) {
      const { status } = await infoRefs(`/${open.fullName}`, "git-upload-pack", { authorization });
      expect(status, authorization.slice(0, 40)).toBe(401);
    }
  });

  test("S114 include a revoked token, from the next request on", async () => {
    const token = await tokenOf(ada);
    expect((await infoRefs(`/${hidden.fullName}`, "git-upload-pack", basic(token))).status).toBe(200);
    await db().personalAccessToken.updateMany({ where: { userId: ada.id }, data: { revokedAt: new Date() } });
    expect((await infoRefs(`/${hidden.fullName}`, "git-upload-pack", basic(token))).status).toBe(401);
  });
});

test("S137 git reports the missing scope if a token that may only read is used for a push", async () => {
  const copy = await workingCopy();
  const before = (await eventsOf(open)).length;
  const refused = await git(copy, ["push", "--force", urlOf(open, await tokenOf(ada, "read-repos")), "HEAD:refs/heads/side"]);
  expect(refused.status).not.toBe(0);
  expect(refused.err).toContain("remote: The token lacks the scope write-repos.");
  expect(refused.err).toContain("403");
  expect(await eventsOf(open)).toHaveLength(before);
});

test("a user who may see a repository but not write to it cannot push, regardless of the token's scopes", async () => {
  const copy = await workingCopy();
  const token = await tokenOf(eve, "manage-repos", "write-repos", "write-discussions");
  const refused = await git(copy, ["push", urlOf(open, token), "HEAD:refs/heads/side"]);
  expect(refused.err).toContain("403");
});

test("in an organization, members with the role write can push, and contributors only to their own repositories", async () => {
  const members = { read: await signedInPerson("r"), contributor: await signedInPerson("c"), write: await signedInPerson("w") };
  const org = await organizationOf(
    ada,
    Object.entries(members).map(([role, person]) => [person, role]),
  );
  const shared = await someRepo(ada, { owner: org.name, isPrivate: true });
  const own = await someRepo(members.contributor, { owner: org.name });
  const copy = await workingCopy();
  const push = async (repo: Repo, person: TestPerson) =>
    (await git(copy, ["push", urlOf(repo, await tokenOf(person)), `HEAD:refs/heads/of-${person.username}`])).status;
  expect(await push(shared, members.read)).not.toBe(0);
  expect(await push(shared, members.contributor)).not.toBe(0);
  expect(await push(shared, members.write)).toBe(0);
  expect(await push(own, members.contributor)).toBe(0);
  expect(await push(own, members.read)).not.toBe(0);
});

test("only users with access can clone a gated repository", async () => {
  const gated = await someRepo(ada);
  await commitTo(gated, ada, { "README.md": "# Tide\n" });
  await updateRepoSettings(ada.actor, { type: "model", owner: ada.username, name: gated.name }, { gated: "manual" }, from);
  const token = await tokenOf(eve, "read-repos", "gated-repos");
  expect((await infoRefs(`/${gated.fullName}`, "git-upload-pack")).status).toBe(401);
  const refused = await git(await emptyFolder(), ["clone", urlOf(gated, token), "clone"]);
  expect(refused.err).toContain("remote: Access to this repository is restricted.");
  await db().accessRequest.create({ data: { id: newId(), repoId: gated.id, userId: eve.id, status: "accepted" } });
  await mustGit(await emptyFolder(), ["clone", "--quiet", urlOf(gated, token), "clone"]);
  expect((await infoRefs(`/${gated.fullName}`, "git-upload-pack", basic(await tokenOf(eve, "read-repos")))).status).toBe(403);
});

test("git cannot clone a platform's repository or push to it", async () => {
  const elsewhere = await someRepo(ada);
  await db().repo.update({ where: { id: elsewhere.id }, data: { platformId: newId(), externalId: newId() } });
  const token = await tokenOf(ada);
  for (const service of ["git-upload-pack", "git-receive-pack"]) {
    const answer = await infoRefs(`/${elsewhere.fullName}`, service, basic(token));
    expect(answer).toMatchObject({ status: 409, body: expect.stringContaining("is hosted on another platform") });
  }
});

test("git's dumb protocol is refused with a clear message", async () => {
  for (const query of ["", "?service=git-receive", "?service=upload-pack", "?service=git-upload-archive"]) {
    const response = await fetch(`${world.origin}/${open.fullName}/info/refs${query}`);
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
    expect(await response.text()).toContain("smart protocol");
  }
});
