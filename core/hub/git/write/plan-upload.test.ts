import type { ChildProcess } from "node:child_process";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { signedInPerson, type TestPerson } from "../../../accounts/testing/people.ts";
import type { Repo } from "../../repos/repo.ts";
import { commitTo, someRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { walks } from "../queues.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { planUpload, type UploadQuestion } from "./plan-upload.ts";

let ada: TestPerson;
let repo: Repo;
beforeAll(async () => {
  ada = await signedInPerson();
  repo = await someRepo(ada);
  await commitTo(repo, ada, { ".gitignore": "build/\n", ".gitattributes": "*.csv filter=lfs\n" });
});

const plan = (question: Partial<UploadQuestion> = {}, of = repo) => {
  const files = [{ path: "build/x", sizeBytes: 1 }];
  const [owner = "", name = ""] = of.fullName.split("/");
  return planUpload(ada.actor, { type: of.type, owner, name }, { revision: "main", files, ...question });
};

const matches = ({ spawnargs }: ChildProcess) => spawnargs.includes("check-ignore") || spawnargs.includes("check-attr");

function watchMatching() {
  const seen = { started: [] as ChildProcess[], alive: 0, most: 0 };
  const stop = watchProcesses((child) => {
    child.once("spawn", () => {
      if (!matches(child)) return;
      seen.started.push(child);
      seen.most = Math.max(seen.most, ++seen.alive);
      child.once("exit", () => seen.alive--);
    });
  });
  return Object.assign(seen, { stop });
}

test("a plan says which files are ignored and which go to Git LFS", async () => {
  const files = ["build/x", "a.csv", "b.csv/c.txt"].map((path) => ({ path, sizeBytes: 9 }));
  expect(await plan({ files })).toMatchObject([{ isIgnored: true }, { mode: "lfs", isIgnored: false }, { mode: "regular" }]);
  const other = { gitIgnore: "*.csv\n", gitAttributes: "*.txt filter=lfs\n" };
  expect(await plan({ files, ...other })).toMatchObject([
    { isIgnored: false },
    { mode: "regular", isIgnored: true },
    { mode: "lfs" },
  ]);
});

test("S137 paths whose folders are too large together are refused", async () => {
  const path = await openRepository(repo);
  const write = async (type: string, input: Buffer) =>
    (await runGit(path, ["hash-object", "-t", type, "-w", "--stdin"], { input })).toString("latin1").trim();
  const id = Buffer.from(await write("blob", Buffer.from("one file, many names")), "hex");
  const entries = Array.from({ length: 15_000 }, (_, at) => [
    Buffer.from(`100644 ${"f".repeat(200)}${at + 10_000}\0`),
    id,
  ]).flat();
  const folders = ["a", "b", "c", "d", "e", "f"];
  const root: Buffer[] = [];
  for (const name of folders) {
    const tree = await write("tree", Buffer.concat([Buffer.from(`100644 ${name}\0`), id, ...entries]));
    root.push(Buffer.from(`40000 ${name}\0`), Buffer.from(tree, "hex"));
  }
  const author = "A <a@b.c> 0 +0000";
  const commit = `tree ${await write("tree", Buffer.concat(root))}\nauthor ${author}\ncommitter ${author}\n\nlarge\n`;
  await runGit(path, ["update-ref", "refs/heads/large", await write("commit", Buffer.from(commit))]);
  const files = folders.map((name) => ({ path: `${name}/${name}`, sizeBytes: 1 }));
  expect(await plan({ files: files.slice(0, 2), revision: "large" })).toMatchObject([{ oid: id.toString("hex") }, {}]);
  await expect(plan({ files, revision: "large" })).rejects.toMatchObject({
    code: "payload_too_large",
    message: expect.stringMatching(/Request fewer paths at once/),
  });
});

test("S137 paths with too many folders are refused before git looks them up", async () => {
  const deep = (from: number) => ({ path: `${from}/${"x/".repeat(198)}y`, sizeBytes: 1 });
  const { started, stop } = watchMatching();
  const files = Array.from({ length: 1_000 }, (_, from) => deep(from));
  await expect(plan({ files })).rejects.toMatchObject({
    code: "payload_too_large",
    message: expect.stringMatching(/fewer files/),
  });
  stop();
  expect(started).toEqual([]);
  expect(await plan({ files: files.slice(0, 5) })).toHaveLength(5);
});

describe("S137 patterns that keep git busy", () => {
  test("have a limit in a request, and the error names the line", async () => {
    const slow = `**/${"a*a*a/**/".repeat(5)}b`;
    await expect(plan({ gitIgnore: `fine\n${slow}\n` })).rejects.toMatchObject({
      code: "invalid_request",
      field: "gitIgnore",
      message: expect.stringMatching(/^Line 2 of the \.gitignore has more than 10 wildcards/),
    });
    await expect(plan({ gitAttributes: `${slow} filter=lfs\n` })).rejects.toMatchObject({ field: "gitAttributes" });
    await expect(plan({ gitIgnore: "x\n".repeat(600_000) })).rejects.toMatchObject({ field: "gitIgnore" });
    await expect(plan({ gitIgnore: `# ${"*".repeat(70)}\n${"\\*".repeat(20)}\nbuild/\n` })).resolves.toMatchObject([
      { isIgnored: true },
    ]);
  });

  test("are matched until a deadline, and the next request does not match them again", async () => {
    const hostile = await someRepo(ada);
    await commitTo(hostile, ada, { ".gitignore": `**/${"a*a*a/**/".repeat(8)}b\n` });
    const files = [{ path: `${"aaaaaaaaa/".repeat(190)}c`, sizeBytes: 1 }];
    const refuse = () => plan({ files }, hostile).catch((error: unknown) => error);
    const refusal = { code: "unavailable", message: expect.stringMatching(/fewer wildcards/) };
    const { started, stop } = watchMatching();
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const refused = refuse();
      await expect.poll(() => started.some(({ spawnargs }) => spawnargs.includes("check-ignore"))).toBe(true);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await refused).toMatchObject(refusal);
    } finally {
      vi.useRealTimers();
    }
    const { length } = started;
    expect(await refuse()).toMatchObject(refusal);
    expect(started).toHaveLength(length);
    stop();
  });

  test("are matched in slots for walks, with limits", async () => {
    const seen = watchMatching();
    await Promise.all(Array.from({ length: 12 }, () => plan()));
    seen.stop();
    const { started, most } = seen;
    expect(started).toHaveLength(24);
    expect(most).toBeLessThanOrEqual(4);
    expect(started.every(({ spawnfile }) => spawnfile.endsWith("/limited-git"))).toBe(true);
    expect(walks.counts).toMatchObject({ taken: 0, waiting: 0 });
  });
});
