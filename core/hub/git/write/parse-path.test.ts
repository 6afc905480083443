import { expect, test } from "vitest";
import { collectChanges, type Operation } from "./collect-changes.ts";
import { parsePath } from "./parse-path.ts";

test("S138 only a short path is composed, because a megabyte of combining characters would take hours", () => {
  const marks = (count: number) => `a${"\u0345".repeat(count)}${"\u0316".repeat(count)}`;
  expect(() => parsePath(marks(300_000))).toThrow("longer than 2,000 bytes");
  expect(parsePath("e\u0301")).toBe("\u00e9");
});

test.each([".git/x", "a/.GIT", "a/git~1/b", ".g\u200cit", "x/.gitmodules", "gitmod~3", ".git::$INDEX_ALLOCATION/x", ".git. ./x"])(
  "S137 %j is reserved",
  (path) => expect(() => parsePath(path)).toThrow("reserved for git"),
);

test.each(["digit/legit.txt", "gitmodules", ".gitattributes", ".github/x"])("%j is not reserved", (path) =>
  expect(parsePath(path)).toBe(path),
);

test("S137 other requests get their turn while many operations are read", async () => {
  let turns = 0;
  let isOver = false;
  const takeTurns = () => {
    turns++;
    if (!isOver) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);
  const operations: Operation[] = Array.from({ length: 3_000 }, (_, at) => ({ type: "deletedFile", path: `a/${at}` }));
  const refuse = () => Promise.reject(new Error("not asked"));
  const { changes } = await collectChanges(operations, {
    repoId: "none",
    git: refuse,
    resolveCommit: refuse,
    countContent: () => undefined,
  });
  isOver = true;
  expect(changes).toHaveLength(3_000);
  expect(turns).toBeGreaterThan(20);
});

test("S138 the source paths of copies count toward the limit", async () => {
  const operations: Operation[] = Array.from({ length: 6_000 }, (_, at) => ({
    type: "copyFile",
    path: `${at}`,
    from: { path: Array(8).fill("x".repeat(200)).join("/") },
  }));
  const refuse = () => Promise.reject(new Error("not asked"));
  const collected = collectChanges(operations, {
    repoId: "none",
    git: refuse,
    resolveCommit: refuse,
    countContent: () => undefined,
  });
  await expect(collected).rejects.toMatchObject({ code: "payload_too_large" });
});
