import { expect, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { openRepository } from "../repository.ts";
import { resolveRef, updateRefs } from "./git-refs.ts";
import { isNewRefName, isRefName } from "./ref-name.ts";

test("refs change together, and only from their expected values", async () => {
  const ada = await signedInPerson();
  const repo = await someRepo(ada);
  const first = await commitTo(repo, ada, { "a.txt": "a" });
  const second = await commitTo(repo, ada, { "a.txt": "b" });
  const path = await openRepository(repo);
  const made = [
    { ref: "refs/heads/one", oldSha: null, newSha: first },
    { ref: "refs/heads/two", oldSha: null, newSha: first },
  ];
  expect(await updateRefs(path, made)).toEqual(made);
  const stale = [
    { ref: "refs/heads/one", oldSha: first, newSha: second },
    { ref: "refs/heads/two", oldSha: second, newSha: first },
  ];
  expect(await updateRefs(path, stale)).toEqual([]);
  expect(await updateRefs(path, made)).toEqual([]);
  expect(await updateRefs(path, [{ ref: "refs/heads/gone", oldSha: first, newSha: null }])).toEqual([]);
  expect(await resolveRef(path, "refs/heads/one")).toBe(first);
  await expect(updateRefs(path, [{ ref: "refs/heads/one/more", oldSha: null, newSha: first }])).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("one already exists"),
  });
});

test.each([
  ..."main feature/a v1.0 ü-ß 🚀 a.b".split(" ").map((name) => [name, true] as const),
  ...["", "-a", "a b", "a..b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a@{1}", "@", "HEAD"].map(
    (name) => [name, false] as const,
  ),
  ...["a\0b", "a\u007f", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "\ud800", "refs/heads/a", "0".repeat(40)].map(
    (name) => [name, false] as const,
  ),
  ["x".repeat(251), false],
  [`${"y".repeat(200)}/${"y".repeat(200)}`, false],
] as const)("S137 %j can be the name of a branch: %s", (name, isOne) => {
  expect(isRefName(name)).toBe(isOne);
});

test("S137 a new ref's name has at most 16 components, because each is a folder", () => {
  const [most, more] = [16, 17].map((count) => Array.from({ length: count }, () => "a").join("/")) as [string, string];
  expect([isNewRefName(most), isNewRefName(more), isNewRefName("a b")]).toEqual([true, false, false]);
  expect(isRefName(more)).toBe(true);
});
