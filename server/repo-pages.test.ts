import { beforeAll, describe, expect, it } from "vitest";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { addComment } from "#core/hub/discussions/comments.ts";
import { openDiscussion } from "#core/hub/discussions/open-discussion.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { service } from "#core/testing/shared-service.ts";

let ada: TestPerson;
let model: Repo;
let dataset: Repo;
let hidden: Repo;

beforeAll(async () => {
  ada = await signedInPerson("Ada");
  model = await someRepo(ada, { name: "Tides.and_Seas" });
  dataset = await someRepo(ada, { type: "dataset", name: "Tides.and_Seas" });
  hidden = await someRepo(ada, { name: "secret", isPrivate: true });
});

async function ask(path: string, { isSignedIn = false } = {}) {
  const cookie = `session-${new URL(service.origin).port}=${ada.token}`;
  const answer = await fetch(service.origin + path, { redirect: "manual", headers: isSignedIn ? { cookie } : {} });
  return { status: answer.status, location: answer.headers.get("location"), body: await answer.text() };
}

describe("a repository's page", { timeout: 120_000 }, () => {
  it("is at the URL from which it is cloned", async () => {
    expect((await ask(`/${model.fullName}`)).body).toContain(`<title>${model.fullName} · Keyhook</title>`);
    expect((await ask(`/datasets/${dataset.fullName}`)).body).toContain(`<title>${dataset.fullName} · Keyhook</title>`);
    expect((await ask(`/spaces/${dataset.fullName}`)).status).toBe(404);
  });

  it("has one URL, to which other URLs redirect with the remaining path", async () => {
    const rest = "/settings?page=a%2Fb";
    const lower = model.fullName.toLowerCase();
    for (const [asked, location] of [
      [`/${lower}${rest}`, `/${model.fullName}${rest}`],
      [`/${model.fullName}.git`, `/${model.fullName}`],
      [`/datasets/${lower}.git${rest}&_rsc=x1`, `/datasets/${dataset.fullName}${rest}`],
      [`/models/${model.fullName}${rest}`, `/${model.fullName}${rest}`],
      [`/repos/models/${model.fullName}${rest}`, `/${model.fullName}${rest}`],
      [`/repos/datasets/${dataset.fullName}`, `/datasets/${dataset.fullName}`],
    ]) {
      expect(await ask(asked as string), asked).toMatchObject({ status: 307, location });
    }
  });

  it("S136 looks the same whether it is hidden or does not exist", async () => {
    const said = (body: string) => body.replaceAll(/nonce\W+[\w+/=]+/g, "").replaceAll(/\b(secret|absent)\b/g, "");
    const seen = { secret: new Set<string>(), absent: new Set<string>() };
    const isAlike = () => [...seen.secret].some((body) => seen.absent.has(body));
    for (let tries = 0; tries < 40 && !isAlike(); tries++) {
      for (const name of ["secret", "absent"] as const) {
        const { status, body } = await ask(`/${ada.username}/${name}`);
        expect(status).toBe(404);
        expect(body).toContain("Page not found");
        expect(body).not.toContain(hidden.id);
        seen[name].add(said(body));
      }
    }
    expect(isAlike()).toBe(true);
    expect((await ask(`/${ada.username}/secret`, { isSignedIn: true })).status).toBe(200);
  });

  it("preselects the branch that the URL of a new pull request names only if the branch exists", async () => {
    await commitTo(model, ada, { a: "b" });
    await runGit(await openRepository(model), ["branch", "ebb"]);
    for (const [head, isThere] of [
      ["ebb", true],
      ["gone", false],
      ["..", false],
    ]) {
      const { body } = await ask(`/${model.fullName}/discussions/new?kind=pull-request&head=${head}`, { isSignedIn: true });
      expect(body.includes(`<option value="${head}" selected="">`), `${head}`).toBe(isThere);
    }
  });

  it("S137 stays small, whatever the comments become as HTML, and formats an ordinary comment after them", async () => {
    const comment = `[a]: http://x/${"&".repeat(330)}\n\n${"[a]\n".repeat(100)}${"x".repeat(1_700)}`;
    const { row } = await openDiscussion(ada.actor, model, { title: "High water?" });
    const name = { repo: { type: model.type, owner: ada.username, name: model.name }, num: row.num };
    for (let at = 0; at < 40; at++) await addComment(ada.actor, name, { comment: `${at}\n\n${comment}` });
    await addComment(ada.actor, name, { comment: "It is **spring** tide." });
    const { status, body } = await ask(`/${model.fullName}/discussions/${row.num}`);
    expect(status).toBe(200);
    expect(body.length).toBeLessThan(8_000_000);
    expect(body.includes("It is <strong>spring</strong> tide.")).toBe(true);
  });

  it("S139 replaces no page of the service", async () => {
    for (const path of ["/settings/x/y", "/settings/tokens/x", "/organizations/x/y/z", "/oauth/x/y", "/_next/x/y", "/api/x/y"]) {
      expect((await ask(path)).status, path).toBe(404);
      expect((await ask(path, { isSignedIn: true })).status, path).toBe(404);
    }
    expect(await ask("/settings/tokens")).toMatchObject({ status: 307, location: "/login?next=%2Fsettings%2Ftokens" });
  });

  it("S138 responds to every path below it", async () => {
    for (const rest of [
      "/%2e%2e/x",
      "/tree/%ff",
      "/tree/%5C/..%2f",
      "/%F0%9F%94%91",
      "/tree/[...x]/:y*",
      "//x",
      "/x?_rsc=%zz&a=%",
    ]) {
      const { status } = await ask(`/${model.fullName.toLowerCase()}${rest}`);
      expect(status, rest).toBeGreaterThanOrEqual(300);
      expect(status, rest).toBeLessThan(500);
    }
  });
});
