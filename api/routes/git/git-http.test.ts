import { afterAll, beforeAll, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { eventsOf, fsck, someRepo } from "#core/hub/testing/repos.ts";
import { emptyFolder, git, mustGit, remote, tokenOf, workingCopy } from "../../testing/git-client.ts";
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

test("a push over HTTP is one event, and what was pushed is cloned back", async () => {
  const repo = await someRepo(ada);
  const url = remote(world.origin, `/${repo.fullName}`, token);
  const copy = await workingCopy();
  expect(await git(copy, ["push", url, "main"])).toMatchObject({ status: 0 });
  const into = await emptyFolder();
  await mustGit(into, ["clone", "--quiet", remote(world.origin, `/${repo.fullName}.git`), "clone"]);
  expect(await mustGit(`${into}/clone`, ["rev-parse", "HEAD"])).toBe(await mustGit(copy, ["rev-parse", "HEAD"]));
  expect((await eventsOf(repo)).map(({ scope }) => scope)).toEqual(["repo", "repo.content"]);
  await fsck(repo);
});
