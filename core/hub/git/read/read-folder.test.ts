import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { readFolder } from "./read-folder.ts";

test("S135 a user without access to the content sees only the card", async () => {
  const ada = await signedInPerson();
  const { id } = await someRepo(ada);
  const current = async () => (await readRepo(id)) as Repo;
  const old = await commitTo(await current(), ada, { "README.md": "once", "deep/README.md": "below" });
  await commitTo(await current(), ada, { "README.md": "now" });
  await commitTo(await current(), ada, { "README.md": "draft" }, { branch: "draft" });
  const readmeOf = async (revision: string, path: string, mayReadContent: boolean) =>
    (await readFolder(await current(), { revision, path, mayReadContent })).readme?.text;
  expect(await readmeOf("main", "", false)).toBe("now");
  for (const [revision, path, text] of [
    [old, "", "once"],
    ["draft", "", "draft"],
    ["main", "deep", "below"],
  ] as const) {
    expect(await readmeOf(revision, path, true)).toBe(text);
    expect(await readmeOf(revision, path, false), revision).toBeUndefined();
  }
});
