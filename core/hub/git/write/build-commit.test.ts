import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { someRepo } from "../../testing/repos.ts";
import { watchProcesses } from "../../testing/watch-processes.ts";
import { openRepository } from "../repository.ts";
import { runGit } from "../run-git.ts";
import { buildCommit, type Change, type CommitPlan } from "./build-commit.ts";
import { openQuarantine } from "./quarantine.ts";
import { startImport } from "./start-import.ts";

const plan = { parent: null, message: "Build\n", signature: "A <a@b.c> 0 +0000" };

async function build(changesOf: (blob: string) => Change[], more: Partial<CommitPlan> = {}) {
  const quarantine = await openQuarantine(await openRepository(await someRepo(await signedInPerson())));
  const git = await startImport(quarantine.path);
  let [unanswered, most] = [0, 0];
  const ask = (command: string) => {
    most = Math.max(most, ++unanswered);
    return git.ask(command).finally(() => unanswered--);
  };
  try {
    const changes = changesOf(await git.writeBlob(Buffer.from("x")));
    const { sha } = await buildCommit({ ...git, ask }, { ...plan, changes, ...more }, "one");
    await git.end();
    const listed = await runGit(quarantine.path, ["ls-tree", "-r", "--name-only", sha]);
    return { files: listed.toString("utf8").trim().split("\n"), most };
  } finally {
    git.kill();
    await quarantine.discard();
  }
}

test("S137 git gets a large commit in portions", async () => {
  const path = (index: number) => `${index % 50}/${index}/a/b/c`;
  const { files, most } = await build((blob) =>
    Array.from({ length: 5_000 }, (_, at) => ({ kind: "put", path: path(at), blob })),
  );
  expect(files).toHaveLength(5_000);
  expect(most).toBeLessThan(1_500);
});

test("S137 the git that builds a commit has limits", async () => {
  const started: ChildProcess[] = [];
  onTestFinished(watchProcesses((child) => started.push(child)));
  await build((blob) => {
    const running = started.filter(({ exitCode }) => exitCode === null);
    expect(running).toHaveLength(1);
    const limits = readFileSync(`/proc/${running[0]?.pid}/limits`, "utf8");
    expect(limits).toMatch(/^Max cpu time +120 /m);
    expect(limits).toMatch(/^Max address space +1610612736 /m);
    return [{ kind: "put", path: "a", blob }];
  });
});

test("a folder that this commit replaces with a file is looked up again", async () => {
  const steps = (blob: string): Change[] => [
    { kind: "put", path: "a/b/c", blob },
    { kind: "delete", path: "a", what: "folder" },
    { kind: "put", path: "a", blob },
  ];
  expect((await build(steps)).files).toEqual(["a"]);
  const below = (blob: string): Change[] => [...steps(blob), { kind: "put", path: "a/b/d", blob }];
  await expect(build(below)).rejects.toThrow('"a" is a file, so "a/b/d" cannot be below it');
});
