import { eventPayloadSchema } from "@keyhook/sdk";
import { describe, expect, test } from "vitest";
import { auditTrail, fillAuditHour, from, organizationOf, outcomes, signedInPerson } from "../../accounts/testing/people.ts";
import { throttleKey } from "../../accounts/throttle.ts";
import { db, pool } from "../../db.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { commitTo, eventsOf, someRepo } from "../testing/repos.ts";
import { createRepo } from "./create-repo.ts";
import { findRepo, type RepoName } from "./find-repo.ts";
import { moveRepo } from "./move-repo.ts";
import type { Repo } from "./repo.ts";
import { updateRepoSettings } from "./update-repo-settings.ts";

const nameOf = ({ type, owner, name }: Repo): RepoName => ({ type, owner: owner.handle, name });
const payloads = async (repo: Repo) => (await eventsOf(repo)).map(({ payload }) => eventPayloadSchema.parse(payload));

describe("updateRepoSettings", () => {
  test("S144 lets a user above the hourly limit make a repository private", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await fillAuditHour(ada.id);
    const set = (isPrivate: boolean) => updateRepoSettings(ada.actor, nameOf(repo), { isPrivate }, from);
    expect(await set(true)).toMatchObject({ isPrivate: true });
    await expect(set(false)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("S144 lets a user above the hourly limit close a gate, unless the change also opens something", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await fillAuditHour(ada.id);
    const set = (settings: object) => updateRepoSettings(ada.actor, nameOf(repo), settings, from);
    for (const gated of ["auto", "manual"]) expect(await set({ gated })).toMatchObject({ gated });
    for (const settings of [{ gated: "auto" }, { gated: false, isPrivate: true }])
      await expect(set(settings)).rejects.toMatchObject({ code: "rate_limited" });
  });

  test("S137 counts events toward the limit, above which a repository can still be made private", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const set = (settings: object) => updateRepoSettings(ada.actor, nameOf(repo), settings, from);
    const key = throttleKey("repo-events", ada.id);
    const count = async () => (await pool().query("SELECT count FROM throttle WHERE key = $1", [key])).rows[0]?.count ?? 0;
    await set({ gatePrompt: "海".repeat(2_000) });
    const { repo: about, updatedConfig } = (await payloads(repo)).at(-1) as unknown as Record<string, unknown>;
    expect(await count()).toBe(Buffer.byteLength(JSON.stringify({ repo: about, updatedConfig })));
    await pool().query("UPDATE throttle SET count = $2 WHERE key = $1", [key, 128 * 1024 * 1024]);
    const refusal = { code: "rate_limited" };
    await expect(set({ description: "Tides" })).rejects.toMatchObject(refusal);
    const to = { owner: ada.username, name: "moon" };
    await expect(moveRepo(ada.actor, nameOf(repo), to, from)).rejects.toMatchObject(refusal);
    expect(await set({ isPrivate: true })).toMatchObject({ isPrivate: true, description: null });
    await expect(set({ isPrivate: false })).rejects.toMatchObject(refusal);
  });

  test("records one event with every changed setting", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada, { type: "space", sdk: "static" });
    const wanted = {
      isPrivate: true,
      gated: "manual",
      gatePrompt: "Why do you ask?",
      description: " Tides, by the hour ",
      sdk: "docker",
      defaultBranch: "main",
      isReadOnly: true,
      isDefaultBranchProtected: false,
      hasDiscussions: false,
    };
    const changed = await updateRepoSettings(ada.actor, nameOf(repo), wanted, from);
    expect(changed).toMatchObject({ ...wanted, description: "Tides, by the hour" });
    expect(await findRepo(ada.actor, nameOf(repo))).toEqual(changed);
    await updateRepoSettings(ada.actor, nameOf(repo), wanted, from);
    const all = await payloads(repo);
    expect(all.map(({ event }) => `${event.scope} ${event.action}`)).toEqual(["repo create", "repo.config update"]);
    expect(all[1]).toMatchObject({
      repo: { private: true },
      updatedConfig: {
        private: true,
        gated: "manual",
        gatePrompt: "Why do you ask?",
        description: "Tides, by the hour",
        sdk: "docker",
        readOnly: true,
        defaultBranchProtected: false,
        discussionsDisabled: true,
      },
    });
    expect(all[1]).not.toHaveProperty("updatedConfig.defaultBranch");
    await updateRepoSettings(ada.actor, nameOf(repo), { gated: false }, from);
    expect((await payloads(repo))[2]).toMatchObject({ updatedConfig: { gated: false } });
  });

  test("S136 hides a private repository from others until it is public again", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson("bea")];
    const repo = await someRepo(ada);
    await updateRepoSettings(ada.actor, nameOf(repo), { isPrivate: true }, from);
    await expect(findRepo(bea.actor, nameOf(repo))).rejects.toMatchObject({ code: "not_found", wireCode: "RepoNotFound" });
    await expect(updateRepoSettings(bea.actor, nameOf(repo), { isPrivate: false }, from)).rejects.toMatchObject({
      code: "not_found",
    });
    await updateRepoSettings(ada.actor, nameOf(repo), { isPrivate: false }, from);
    await expect(findRepo(bea.actor, nameOf(repo))).resolves.toMatchObject({ id: repo.id });
    await expect(updateRepoSettings(bea.actor, nameOf(repo), { isPrivate: true }, from)).rejects.toMatchObject({
      code: "forbidden",
    });
  });

  test("requires that the default branch exists", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await commitTo(repo, ada, { "README.md": "---\ntags: [sea]\n---\n" });
    const draft = await commitTo(repo, ada, { "README.md": "---\ntags: [moon]\n---\n" }, { branch: "draft/one" });
    for (const defaultBranch of ["nope", "", "-x", "a..b", "a b", "x.lock", "@{1}", "\0", "ü".repeat(300), 7, "$(id)"]) {
      await expect(updateRepoSettings(ada.actor, nameOf(repo), { defaultBranch }, from)).rejects.toMatchObject({
        code: "invalid_request",
        field: "defaultBranch",
      });
    }
    const changed = await updateRepoSettings(ada.actor, nameOf(repo), { defaultBranch: "draft/one" }, from);
    expect(changed).toMatchObject({ headSha: draft, tags: ["moon"], defaultBranch: "draft/one" });
    const head = await runGit(await openRepository(repo), ["symbolic-ref", "HEAD"]);
    expect(head.toString().trim()).toBe("refs/heads/draft/one");
    expect((await payloads(repo)).at(-1)).toMatchObject({
      repo: { headSha: draft },
      updatedConfig: { defaultBranch: "draft/one" },
    });
    await commitTo(repo, ada, { "README.md": "# Bare\n" }, { branch: "bare" });
    await updateRepoSettings(ada.actor, nameOf(repo), { defaultBranch: "bare" }, from);
    expect(await findRepo(ada.actor, nameOf(repo))).toMatchObject({ tags: [], card: null });
  });

  test("refuses a default branch for an empty repository if no push could create it", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await updateRepoSettings(ada.actor, nameOf(repo), { defaultBranch: "trunk" }, from);
    const head = await runGit(await openRepository(repo), ["symbolic-ref", "HEAD"]);
    expect(head.toString().trim()).toBe("refs/heads/trunk");
    for (const defaultBranch of ["refs/x", "HEAD", "a".repeat(40), `${"a/".repeat(16)}a`]) {
      await expect(updateRepoSettings(ada.actor, nameOf(repo), { defaultBranch }, from)).rejects.toMatchObject({
        field: "defaultBranch",
      });
    }
  });

  test.each([
    [{ isPrivate: "yes" }, "private"],
    [{ gated: "sometimes" }, "gated"],
    [{ gated: true }, "gated"],
    [{ description: "x".repeat(501) }, "description"],
    [{ description: "a\0b" }, "description"],
    [{ description: "\ud800" }, "description"],
    [{ sdk: "static" }, "sdk"],
    [{ isReadOnly: 1 }, "readOnly"],
    [{ gatePrompt: {} }, "gatePrompt"],
  ])("S138 refuses %j", async (settings, field) => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    await expect(updateRepoSettings(ada.actor, nameOf(repo), settings, from)).rejects.toMatchObject({
      code: "invalid_request",
      field,
    });
    expect(await payloads(repo)).toHaveLength(1);
  });

  test("applies twenty simultaneous equal changes once", async () => {
    const ada = await signedInPerson();
    const repo = await someRepo(ada);
    const asked = Array.from({ length: 20 }, () => updateRepoSettings(ada.actor, nameOf(repo), { isPrivate: true }, from));
    expect(new Set(await outcomes(asked))).toEqual(new Set(["ok"]));
    expect(await payloads(repo)).toHaveLength(2);
  });

  test("writes an entry into an organization's audit log", async () => {
    const ada = await signedInPerson();
    const organization = await organizationOf(ada);
    const repo = await createRepo(ada.actor, { type: "model", owner: organization.name, name: "tide" }, from);
    await updateRepoSettings(ada.actor, nameOf(repo), { isReadOnly: true }, from);
    expect((await auditTrail({ orgId: organization.id })).slice(-2)).toEqual(["repo.create", "repo.update_settings"]);
    await db().repo.update({ where: { id: repo.id }, data: { platformId: "a".repeat(24) } });
    await expect(updateRepoSettings(ada.actor, nameOf(repo), { isReadOnly: false }, from)).rejects.toMatchObject({
      code: "conflict",
    });
  });
});
