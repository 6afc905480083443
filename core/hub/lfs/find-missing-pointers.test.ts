import { hash } from "node:crypto";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { anonymous } from "../../access/actor.ts";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { openRepository } from "../git/repository.ts";
import { runGit } from "../git/run-git.ts";
import { checkArrival } from "../git/smart-http/check-arrival.ts";
import type { Repo } from "../repos/repo.ts";
import { someRepo } from "../testing/repos.ts";
import { findMissingPointers, MISSING_MAX } from "./find-missing-pointers.ts";
import { lfsPointerTo } from "./parse-lfs-pointer.ts";

const SMALL = 300_000;
const POINTERS = 12_000;

/** S137: a push of very many small files, with more pointers than are read at once. */
let repo: Repo;
let path: string;
beforeAll(async () => {
  repo = await someRepo(await signedInPerson());
  path = await openRepository(repo);
  const blob = (content: string) => `blob\ndata ${content.length}\n${content}\n`;
  const small = Array.from({ length: SMALL }, (_, each) => blob(`${each}`));
  const pointers = Array.from({ length: POINTERS }, (_, size) => blob(lfsPointerTo({ oid: hash("sha256", `${size}`), size })));
  await runGit(path, ["-c", "core.compression=0", "fast-import", "--quiet"], { input: [...small, ...pointers].join("") });
});

const cpuMs = () => process.threadCpuUsage().user / 1_000;

function longestPiece(): () => number {
  let [longest, last, isOver] = [0, cpuMs(), false];
  const look = () => {
    const now = cpuMs();
    [longest, last] = [Math.max(longest, now - last), now];
    if (!isOver) setImmediate(look);
  };
  look();
  return () => {
    isOver = true;
    return longest;
  };
}

test("pointers are found among many files, up to a limit", async () => {
  const { missing: found } = await findMissingPointers(path, join(path, "objects"), { repoId: repo.id });
  expect(found.length).toBeGreaterThanOrEqual(MISSING_MAX);
  expect(found.length).toBeLessThan(POINTERS);
  for (const { oid, size } of found) expect(oid).toBe(hash("sha256", `${size}`));
});

describe("S137 a push of very many objects", () => {
  test("is searched without blocking others", async () => {
    const list = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectsize) %(objectname)"];
    const listing = (await runGit(path, list)).toString("latin1");
    const before = cpuMs();
    const { length } = listing.split("\n").map((line) => line.split(" "));
    const inOnePiece = cpuMs() - before;
    expect(length).toBe(SMALL + POINTERS + 1);
    // The best of three rounds, because garbage collection may lengthen a piece.
    let longest = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3 && longest >= inOnePiece * 0.75; round++) {
      const stop = longestPiece();
      await findMissingPointers(path, join(path, "objects"), { repoId: repo.id });
      longest = Math.min(longest, stop());
    }
    expect(longest).toBeLessThan(inOnePiece * 0.75);
  });

  test("is refused above a million", async () => {
    const arrival = { quarantine: undefined, large: [], unpackedBytes: 0, isUnreadable: false };
    expect(
      await checkArrival({ path, repoId: repo.id, actor: anonymous }, { ...arrival, objects: 1_000_000 }, []),
    ).toBeUndefined();
    expect(await checkArrival({ path, repoId: repo.id, actor: anonymous }, { ...arrival, objects: 1_000_001 }, [])).toEqual({
      reason: "too many objects",
      messages: [expect.stringContaining("has 1,000,001 objects, but at most 1,000,000"), expect.stringContaining("git push")],
    });
  });
});
