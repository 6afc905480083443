import { beforeAll, describe, expect, it } from "vitest";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { db } from "#core/db.ts";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { createBranch } from "#core/hub/git/write/branches-and-tags.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo } from "#core/hub/testing/repos.ts";
import { service } from "#core/testing/shared-service.ts";

let ada: TestPerson;
let repo: Repo;
let sha: string;

const names = ["🌊 tide.txt", 'quo"te.txt', "-rf", "100%.txt", "a#b?c.txt", "back\\slash.txt", "%2e%2e", "<b>bold</b>.txt"];
const hostile = "</script><script>alert(1)</script>";

beforeAll(async () => {
  ada = await signedInPerson("Ada");
  repo = await someRepo(ada, { type: "dataset" });
  const files = Object.fromEntries(names.map((name) => [`odd/${name}`, `secret words of ${name}\n`]));
  sha = await commitTo(
    repo,
    ada,
    { ...files, "README.md": `# Tides ${hostile}\n`, "page.html": hostile },
    { message: `Add ${hostile}` },
  );
  await createBranch(ada.actor, { type: repo.type, owner: ada.username, name: repo.name }, { branch: "feature/a%b" });
});

async function ask(path: string, { as, of = repo }: { as?: TestPerson; of?: Repo } = {}) {
  const base = of.type === "dataset" ? `/datasets/${of.fullName}` : `/${of.fullName}`;
  const headers = as ? { cookie: `session-${new URL(service.origin).port}=${as.token}` } : undefined;
  const answer = await fetch(service.origin + base + path, { redirect: "manual", headers });
  return { status: answer.status, location: answer.headers.get("location"), body: await answer.text() };
}

const everyPage = () => [
  "tree/main",
  "tree/main/odd",
  "blob/main/README.md",
  "commits/main",
  `commit/${sha}`,
  "branches",
  "tags",
  "compare/main...main",
];

describe("pages of a repository's content", { timeout: 120_000 }, () => {
  it("exist for users who may see the repository, and run nothing that a user wrote", async () => {
    for (const page of everyPage()) {
      const { status, body } = await ask(`/${page}`);
      expect(status, page).toBe(200);
      expect(body, page).not.toContain(`${hostile}</`);
      expect(body.includes("<script>alert(1)"), page).toBe(false);
    }
    expect(await ask("/tree")).toMatchObject({ status: 307, location: `/datasets/${repo.fullName}/tree/main` });
  });

  it("say that a commit which only a pull request reaches may not be the owner's", async () => {
    const path = await openRepository(repo);
    const identity = { GIT_AUTHOR_NAME: "E", GIT_AUTHOR_EMAIL: "e@b.c", GIT_COMMITTER_NAME: "E", GIT_COMMITTER_EMAIL: "e@b.c" };
    const made = await runGit(path, ["commit-tree", `${sha}^{tree}`, "-p", sha, "-m", "Mine"], { env: identity });
    const theirs = made.toString().trim();
    await runGit(path, ["update-ref", "refs/pr/7", theirs]);
    const notice = "This commit is not on any branch or tag of";
    for (const page of ["tree/@", "blob/@/README.md", "commits/@", "commit/@"]) {
      expect((await ask(`/${page.replace("@", theirs)}`)).body, page).toContain(notice);
      expect((await ask(`/${page.replace("@", sha)}`)).body, page).not.toContain(notice);
    }
    expect((await ask("/tree/refs/pr/7")).body).not.toContain(notice);
    await runGit(path, ["update-ref", "-d", "refs/pr/7"]);
  });

  it("find files with unusual names, and branches with a slash", async () => {
    for (const name of names) {
      const { status, body } = await ask(`/blob/main/odd/${encodeURIComponent(name)}`);
      expect(status, name).toBe(200);
      expect(body, name).toContain("secret words of");
    }
    for (const branch of ["feature%2Fa%25b", "refs%2Fheads%2Fmain", "refs/heads/main", sha, "HEAD"]) {
      expect((await ask(`/tree/${branch}/odd`)).status, branch).toBe(200);
    }
  });

  it("S137, S138 respond with 404 for what does not exist, and never fail", async () => {
    const odd = ["none", "main%5E", "--all", "%40%7B0%7D", "%0A", "%ff", "x".repeat(3_000)];
    const pages = odd.flatMap((part) => [
      `tree/${part}`,
      `blob/main/${part}`,
      `blob/${part}/a`,
      `commits/${part}`,
      `commit/${part}`,
      `compare/${part}`,
    ]);
    pages.push(
      "tree/main..main",
      "blob/main/odd",
      "tree/main/README.md",
      "tree/main/..%2f..%2fconfig",
      "compare/main...none",
      "tree/main?cursor=%25",
      "compare/main",
    );
    for (const page of pages) expect([400, 404], page).toContain((await ask(`/${page}`)).status);
    for (const page of ["commits/main?page=99999", "commits/main?page=-1", "branches?page=x&search=%25", "tree/main?cursor="]) {
      expect([200, 307], page).toContain((await ask(`/${page}`)).status);
    }
  });

  it("S136 look nonexistent to users who may not see the repository", async () => {
    const secret = await someRepo(ada, { isPrivate: true });
    await commitTo(secret, ada, { a: "hidden words" });
    const bea = await signedInPerson("bea");
    for (const page of ["tree/main", "blob/main/a", "commits/main", "commit/main", "branches", "tags", "compare/main...main"]) {
      for (const as of [undefined, bea]) {
        const { status, body } = await ask(`/${page}`, { of: secret, as });
        expect(status, page).toBe(404);
        expect(body, page).not.toContain("hidden words");
      }
      expect((await ask(`/${page}`, { of: secret, as: ada })).status, page).toBe(200);
    }
  });

  it("of a gated repository name files, and show their content only to users with access", async () => {
    const gated = await someRepo(ada);
    await commitTo(gated, ada, { "a.txt": "guarded words", "deep/README.md": "guarded words", "README.md": "# The card" });
    await db().repo.update({ where: { id: gated.id }, data: { gated: "manual" } });
    const bea = await signedInPerson("bea");
    for (const page of ["tree/main", "tree/main/deep", "blob/main/a.txt", "commit/main", "compare/none...main", "commits/main"]) {
      const { status, body } = await ask(`/${page}`, { of: gated, as: bea });
      expect([200, 404], page).toContain(status);
      expect(body, page).not.toContain("guarded words");
    }
    expect((await ask("/tree/main", { of: gated, as: bea })).body).toContain("The card");
    expect((await ask("/commit/main", { of: gated, as: bea })).body).toContain("a.txt");
    expect((await ask("/blob/main/a.txt", { of: gated, as: bea })).body).toContain("Access to this content is restricted");
    expect((await ask("/commit/main", { of: gated, as: ada })).body).toContain("guarded words");
  });
});
