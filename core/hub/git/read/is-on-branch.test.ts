import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { db } from "../../../db.ts";
import type { Repo } from "../../repos/repo.ts";
import { setRef } from "../../testing/discussions.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { isOnBranch } from "./revision.ts";

test("isOnBranch is false for the SHA of a commit that only a pull request reaches", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const first = await commitTo(repo, ada, { a: "1" });
  const second = await commitTo(repo, ada, { a: "2" });
  const path = await openRepository(repo);
  const tree = (await runGit(path, ["rev-parse", `${second}^{tree}`])).toString().trim();
  const identity = { GIT_AUTHOR_NAME: "E", GIT_AUTHOR_EMAIL: "e@b.c", GIT_COMMITTER_NAME: "E", GIT_COMMITTER_EMAIL: "e@b.c" };
  const pushed = (await runGit(path, ["commit-tree", tree, "-p", second, "-m", "Mine"], { env: identity })).toString().trim();
  await setRef(repo, ada, "refs/pr/1", pushed);
  const now = async () => db().repo.findUniqueOrThrow({ where: { id: repo.id } }) as unknown as Promise<Repo>;
  const isOn = async (sha: string | null, ref: string | null = null) => isOnBranch(await now(), { ref, sha });
  for (const sha of [first, second, null]) expect(await isOn(sha)).toBe(true);
  expect(await isOn(pushed)).toBe(false);
  expect(await isOn(pushed, "refs/pr/1")).toBe(true);
  await setRef(repo, ada, "refs/tags/v1", pushed);
  expect(await isOn(pushed)).toBe(true);
});
