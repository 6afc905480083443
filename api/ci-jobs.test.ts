import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pipelineOf } from "#core/accounts/publishers/publisher.ts";
import {
  auditTrail,
  from,
  organizationOf,
  outcomes,
  signedInPerson,
  staleActor,
  type TestPerson,
} from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { grantAccess } from "#core/hub/gates/decide-access-request.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { addPublisher, removePublisher } from "#core/hub/publishers/change-publishers.ts";
import { listOrganizationPublishers, listPublishers } from "#core/hub/publishers/list-publishers.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { updateRepoSettings } from "#core/hub/repos/update-repo-settings.ts";
import { eventsOf, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { newId } from "#core/ids.ts";
import { type CiIssuer, startCiIssuer } from "#core/oauth/testing/ci-issuer.ts";
import { commit as commitLocally, git, mustGit, remote, workingCopy } from "./testing/git-client.ts";
import { fileLine, header, ndjson, someCaller } from "./testing/hub-caller.ts";
import { actionsFor, askBatch, someObject } from "./testing/lfs.ts";
import { startApiWorld } from "./testing/start-api-world.ts";

let world: Awaited<ReturnType<typeof startApiWorld>>;
let ci: CiIssuer;
let ada: TestPerson;
let org: { id: string; name: string };
let repo: Repo;
let next: Repo;
const claims = { repository: "octo/kite", ref: "refs/heads/main" };
const lines = Object.entries(claims)
  .map(([name, value]) => `${name} = ${value}`)
  .join("\n");
const nameOf = ({ type, owner, name }: Repo) => ({ type, owner: owner.handle, name });
const input = () => ({ preset: "oidc", values: { issuer: ci.issuer, claims: lines } });

beforeAll(async () => {
  world = await startApiWorld();
  ci = await startCiIssuer();
  ada = await signedInPerson("ada");
  org = await organizationOf(ada);
  repo = await someRepo(ada, { owner: org.name, isPrivate: true });
  next = await someRepo(ada, { owner: org.name, isPrivate: true });
  await addPublisher(ada.actor, { repo: nameOf(repo) }, input(), from);
});
afterAll(async () => {
  await ci.stop();
  await world.stop();
});

/** `resource` is sent as the Python client sends its HF_OIDC_RESOURCE. */
async function exchange(resource: string): Promise<string> {
  const response = await ask(resource, claims);
  const { access_token } = (await response.json()) as { access_token: string };
  expect(response.status).toBe(200);
  return access_token;
}

const ask = async (resource: string, job: Record<string, string>): Promise<Response> =>
  fetch(`${world.origin}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: await ci.sign({ ...job, job_id: "7" }),
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      resource,
    }),
  });

async function send(token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(world.origin + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text };
}

const commit = (token: string, { fullName }: Repo, query = "") =>
  send(token, "POST", `/api/models/${fullName}/commit/main${query}`, ndjson(header(), fileLine("weights.txt")));

describe("a job's token for a repository", () => {
  let token: string;
  beforeAll(async () => {
    token = await exchange(repo.fullName);
  });

  test("S99 commits to its repository without an account as author, and cannot see another repository", async () => {
    expect(await commit(token, repo)).toMatchObject({ status: 200, body: { success: true } });
    const author = await runGit(await openRepository(repo), ["log", "-1", "--format=%an <%ae>", "refs/heads/main"]);
    const [{ id: publisherId } = { id: "" }] = await listPublishers(ada.actor, { repo: nameOf(repo) });
    expect(author.toString().trim()).toBe(`CI [OIDC] <oidc+${publisherId}@users.noreply.localhost>`);
    expect((await eventsOf(repo)).at(-1)).toMatchObject({ scope: "repo.content", action: "update" });
    await fsck(repo);

    expect(await send(token, "GET", `/api/models/${repo.fullName}`)).toMatchObject({ status: 200 });
    const missing = await send(token, "GET", `/api/models/${org.name}/none-such`);
    expect(missing.status).toBe(404);
    expect(await send(token, "GET", `/api/models/${next.fullName}`)).toEqual(missing);
    expect(await commit(token, next)).toEqual(missing);
    expect(await eventsOf(next)).toHaveLength(1);
  });

  test("is accepted as git's password for pushes and Git LFS uploads to that repository only", async () => {
    const copy = await workingCopy({ "README.md": "# Pushed by a job\n" });
    await mustGit(copy, ["fetch", "--quiet", remote(world.origin, `/${repo.fullName}`, token), "main"]);
    await mustGit(copy, ["reset", "--quiet", "--hard", "FETCH_HEAD"]);
    const sha = await commitLocally(copy, { "notes.txt": "by git\n" });
    expect(await git(copy, ["push", remote(world.origin, `/${repo.fullName}`, token), "HEAD:main"])).toMatchObject({ status: 0 });
    expect((await mustGit(copy, ["ls-remote", remote(world.origin, `/${repo.fullName}`, token), "main"])).slice(0, 40)).toBe(sha);
    for (const target of [next.fullName, `${org.name}/none-such`]) {
      const refused = await git(copy, ["push", remote(world.origin, `/${target}`, token), "HEAD:main"]);
      expect(refused.status).not.toBe(0);
      expect(refused.err).toMatch(/not found/i);
    }
    const object = someObject(randomBytes(3_000));
    const [offered] = await actionsFor(world.origin, repo, "upload", [object], { accessToken: token });
    const upload = offered?.actions?.upload;
    expect(upload).toBeDefined();
    const put = await fetch(upload?.href ?? "", {
      method: "PUT",
      headers: upload?.header ?? {},
      body: new Uint8Array(object.content),
    });
    expect(put.status).toBe(200);
    expect((await askBatch(world.origin, next, { operation: "upload", objects: [object] }, { accessToken: token })).status).toBe(
      404,
    );
  });

  test("names its resource, and cannot change settings, take part in discussions or create repositories", async () => {
    expect(await send(token, "GET", "/api/whoami-v2")).toMatchObject({
      status: 200,
      body: {
        type: "publisher",
        name: repo.fullName,
        fullname: "CI [OIDC]",
        orgs: [],
        auth: { type: "ci_token", resource: { sub: repo.id, type: "model", name: repo.fullName }, expiresAt: expect.any(String) },
      },
    });
    const at = `/api/models/${repo.fullName}`;
    const answers = await Promise.all([
      send(token, "PUT", `${at}/settings`, { private: false }),
      send(token, "POST", `${at}/discussions`, { title: "Hello", description: "there" }),
      commit(token, repo, "?create_pr=1"),
      send(token, "POST", "/api/repos/create", { name: "mine", organization: org.name, type: "model" }),
      send(token, "DELETE", "/api/repos/delete", { name: repo.name, organization: org.name, type: "model" }),
      send(token, "POST", "/api/repos/move", { fromRepo: repo.fullName, toRepo: `${org.name}/other`, type: "model" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect(await db().discussion.count({ where: { repoId: repo.id } })).toBe(0);
    const listed = await send(token, "GET", `/api/models?author=${org.name}`);
    expect(listed.status).toBe(200);
    const userinfo = await fetch(`${world.origin}/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    expect(userinfo.status).toBe(401);
  });

  test("S112 is refused from the next request on when the publisher is removed", async () => {
    const other = await someRepo(ada, { owner: org.name });
    const { id } = await addPublisher(ada.actor, { repo: nameOf(other) }, input(), from);
    const short = await exchange(other.fullName);
    expect((await commit(short, other)).status).toBe(200);
    await removePublisher(ada.actor, { repo: nameOf(other) }, id, from);
    expect((await commit(short, other)).status).toBe(401);
    const copy = await workingCopy();
    expect((await git(copy, ["push", remote(world.origin, `/${other.fullName}`, short), "HEAD:x"])).err).toMatch(
      /Authentication failed/,
    );
  });
});

test("a job's token for a user reads only the gated repositories to which the user has access", async () => {
  const grace = await someCaller();
  await addPublisher(grace.actor, { userId: grace.id }, input(), from);
  const open = await someRepo(ada, { owner: org.name });
  const gated = await updateRepoSettings(ada.actor, nameOf(open), { gated: "manual" }, from);
  await grantAccess(ada.actor, nameOf(gated), { user: grace.username }, from);
  await commitByOwner(gated);
  const own = await someRepo(grace, { isPrivate: true });
  const token = await exchange(grace.username);
  const file = `/${gated.fullName}/resolve/main/weights.txt`;
  expect((await send(token, "GET", file)).status).toBe(200);
  expect((await fetch(world.origin + file)).status).toBe(401);
  const xet = await send(token, "GET", `/api/models/${gated.fullName}/xet-read-token/main`);
  const chunks = () => send(xet.body.accessToken, "GET", `/xet/${gated.id}/v1/reconstructions/${"ab".repeat(32)}`);
  expect([xet.status, (await chunks()).status]).toEqual([200, 404]);
  expect((await send(token, "GET", `/api/models/${own.fullName}`)).status).toBe(404);
  expect((await commit(token, own)).status).toBe(404);
  expect((await commit(token, gated)).status).toBe(403);
  const { body } = await send(token, "GET", "/api/whoami-v2");
  expect(body).toMatchObject({ type: "user", name: grace.username, orgs: [] });
  expect(body.email).toBeUndefined();
  const mine = await send(token, "GET", `/api/models?author=${grace.username}`);
  expect(mine).toEqual({ status: 200, body: [] });
  const withdrawal = await send(token, "DELETE", `/api/models/${gated.fullName}/user-access-request`);
  expect(withdrawal.status).toBeGreaterThanOrEqual(400);
  expect((await send(token, "GET", file)).status).toBe(200);
  await db().ciToken.updateMany({ where: { userId: grace.id }, data: { revokedAt: new Date() } });
  expect((await chunks()).status).toBe(401);
});

async function commitByOwner(target: Repo): Promise<void> {
  const { id } = await addPublisher(ada.actor, { repo: nameOf(target) }, input(), from);
  expect((await commit(await exchange(target.fullName), target)).status).toBe(200);
  await removePublisher(ada.actor, { repo: nameOf(target) }, id, from);
}

describe("the publishers that a repository trusts", () => {
  test("S113 S116 can be changed only by recently authenticated users who may write, and changes are logged", async () => {
    const [writer, reader, stranger] = [await signedInPerson(), await signedInPerson(), await signedInPerson()];
    const team = await organizationOf(ada, [
      [writer, "write"],
      [reader, "read"],
    ]);
    const kept = await someRepo(ada, { owner: team.name, isPrivate: true });
    const subject = { repo: nameOf(kept) };
    const add = (person: TestPerson["actor"]) => addPublisher(person, subject, input(), from);
    expect(await outcomes([add(staleActor(writer.actor))])).toEqual(["reauthentication_required"]);
    expect(await outcomes([add(reader.actor)])).toEqual(["forbidden"]);
    expect(await outcomes([add(stranger.actor)])).toEqual(["not_found"]);
    const { id } = await add(writer.actor);
    expect(await outcomes([add(writer.actor), add(ada.actor)])).toEqual(["conflict", "conflict"]);
    const page = await listOrganizationPublishers(ada.actor, team.id);
    expect(page).toMatchObject({ total: 1, items: [{ id, addedBy: writer.username, repo: { name: kept.name } }] });
    expect(await outcomes([listOrganizationPublishers(writer.actor, team.id)])).toEqual(["forbidden"]);
    const elsewhere = { repo: nameOf(repo) };
    expect(
      await outcomes([removePublisher(ada.actor, elsewhere, id, from), removePublisher(ada.actor, subject, newId(), from)]),
    ).toEqual(["not_found", "not_found"]);
    expect(await outcomes([1, 2].map(() => removePublisher(writer.actor, subject, id, from)))).toEqual(["not_found", "ok"]);
    const trail = await auditTrail({ orgId: team.id });
    expect(trail.filter((type) => type.startsWith("trusted_publisher"))).toEqual([
      "trusted_publisher.create",
      "trusted_publisher.delete",
    ]);
  });

  test("S98 a custom issuer and its claims are checked before they are stored", async () => {
    const cases: [string, Record<string, string>][] = [
      ["claims", { claims: "sub = repo:octo/kite" }],
      ["claims", { claims: "" }],
      ["claims", { claims: "repository octo/kite" }],
      ["claims", { claims: "aud = x\nref = y" }],
      ["claims", { claims: "ref = a\nref = b" }],
      ["claims", { claims: Array.from({ length: 30 }, (_, index) => `claim${index} = x`).join("\n") }],
      ["issuer", { issuer: "http://ci.example.com" }],
      ["issuer", { issuer: "https://user@ci.example.com" }],
      ["issuer", { issuer: "https://ci.example.com/?x" }],
      ["issuer", { issuer: "https://169.254.169.254" }],
      ["issuer", { issuer: "https://[::ffff:10.0.0.1]/" }],
      ["issuer", { issuer: "https://token.actions.githubusercontent.com" }],
      ["issuer", { issuer: "\ud800" }],
    ];
    for (const [field, changes] of cases) {
      const values = { ...input().values, ...changes };
      await expect(addPublisher(ada.actor, { repo: nameOf(next) }, { preset: "oidc", values }, from)).rejects.toMatchObject({
        code: "invalid_request",
        field,
      });
    }
  });

  test("S98 a publisher for a GitLab branch trusts neither a tag of the same name nor a fork's merge request", async () => {
    const kept = await someRepo(ada);
    const values = { gitlabUrl: ci.issuer, projectPath: "group/kite", gitlabRef: "refs/heads/main" };
    await addPublisher(ada.actor, { repo: nameOf(kept) }, { preset: "gitlab", values }, from);
    const job = { project_path: "group/kite", ref: "main", ref_type: "branch", ref_path: "refs/heads/main" };
    const tag = { ref_type: "tag", ref_path: "refs/tags/main" };
    // For a merge request, GitLab names the source branch, even if that branch is in a fork.
    const mergeRequest = { pipeline_source: "merge_request_event" };
    const child = { pipeline_source: "parent_pipeline" };
    const push = { pipeline_source: "push" };
    const answers = await Promise.all([tag, mergeRequest, child, push].map((other) => ask(kept.fullName, { ...job, ...other })));
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 200]);
  });

  test("S98 a publisher that an earlier version stored with only a ref trusts no job, and its managers read why", async () => {
    const circleci = { "oidc.circleci.com/project-id": "6a1b", "oidc.circleci.com/vcs-ref": "refs/heads/main" };
    const gitlab = { project_path: "group/kite", ref: "main" };
    const cases = [
      { stored: gitlab, sent: { ...gitlab, ref_type: "tag", ref_path: "refs/tags/main" }, reason: "ref_type" },
      { stored: circleci, sent: { ...circleci, "oidc.circleci.com/vcs-origin": "github.com/fork/kite" }, reason: "vcs-origin" },
    ];
    for (const { stored, sent, reason } of cases) {
      const kept = await someRepo(ada);
      const subject = { repo: nameOf(kept) };
      const { id } = await addPublisher(ada.actor, subject, input(), from);
      await db().trustedPublisher.update({ where: { id }, data: { claims: stored } });
      expect((await ask(kept.fullName, sent)).status).toBe(400);
      expect((await listPublishers(ada.actor, subject))[0]?.lastRefusal?.reason).toMatch(`${reason}; add the publisher again`);
    }
  });

  test("each provider has its own form fields", async () => {
    const uuid = "6a1b2c3d-4e5f-6789-abcd-ef0123456789";
    const kept = await someRepo(ada);
    const add = (preset: string, values: Record<string, string>) =>
      addPublisher(ada.actor, { repo: nameOf(kept) }, { preset, values }, from);
    expect(
      await add("github", { repository: "octo/kite", ref: "refs/heads/main", workflow: "publish.yml", repositoryId: "74" }),
    ).toMatchObject({
      issuer: "https://token.actions.githubusercontent.com",
      claims: {
        repository: "octo/kite",
        ref: "refs/heads/main",
        workflow_ref: "octo/kite/.github/workflows/publish.yml@refs/heads/main",
        repository_id: "74",
      },
    });
    expect(await add("gitlab", { projectPath: "group/kite", gitlabRef: "refs/heads/main" })).toMatchObject({
      issuer: "https://gitlab.com",
      claims: { project_path: "group/kite", ref_path: "refs/heads/main" },
    });
    const circle = { circleciOrgId: uuid.toUpperCase(), circleciProjectId: uuid, vcsOrigin: "github.com/octo/kite" };
    expect(await add("circleci", { ...circle, vcsRef: "refs/heads/main" })).toMatchObject({
      issuer: `https://oidc.circleci.com/org/${uuid}`,
      claims: {
        "oidc.circleci.com/project-id": uuid,
        "oidc.circleci.com/ssh-rerun": "false",
        "oidc.circleci.com/vcs-origin": "github.com/octo/kite",
        "oidc.circleci.com/vcs-ref": "refs/heads/main",
      },
    });
    expect(await add("bitbucket", { workspace: "octo", repositoryUuid: uuid })).toMatchObject({
      issuer: "https://api.bitbucket.org/2.0/workspaces/octo/pipelines-config/identity/oidc",
      claims: { repositoryUuid: `{${uuid}}` },
    });
    await add("oidc", { issuer: ci.issuer, claims: "sub = job\nref = refs/heads/main\nrepository = octo/kite" });
    const listed = (await listPublishers(ada.actor, { repo: nameOf(kept) })).map(pipelineOf);
    expect(listed.toSorted()).toEqual([uuid, "group/kite", "octo/kite", "octo/kite", `{${uuid}}`]);
    const many = await outcomes(Array.from({ length: 17 }, (_, index) => add("github", { repository: `octo/kite-${index}` })));
    expect(many).toEqual([...Array(2).fill("conflict"), ...Array(15).fill("ok")]);
    const refused = [
      ["github", { repository: "kite" }, "repository"],
      ["github", { repository: "octo/kite", workflow: "publish.yml" }, "ref"],
      ["github", { repository: "octo/kite", ref: "main" }, "ref"],
      ["github", { repository: "octo/kite", repositoryId: "x" }, "repositoryId"],
      ["gitlab", { projectPath: "group/kite", gitlabUrl: "http://gitlab.example" }, "gitlabUrl"],
      ["gitlab", { projectPath: "group/kite", gitlabRef: "main" }, "gitlabRef"],
      ["circleci", { circleciOrgId: "octo", circleciProjectId: uuid }, "circleciOrgId"],
      ["circleci", { circleciOrgId: uuid, circleciProjectId: uuid, vcsRef: "refs/heads/main" }, "vcsOrigin"],
      ["bitbucket", { workspace: "octo/team", repositoryUuid: uuid }, "workspace"],
      ["jenkins", {}, "preset"],
      ["__proto__", {}, "preset"],
    ] as const;
    for (const [preset, values, field] of refused) await expect(add(preset, values)).rejects.toMatchObject({ field });
  });
});
