import { access, rename } from "node:fs/promises";
import { expect, test } from "vitest";
import { signedInPerson } from "../../accounts/testing/people.ts";
import { env, provideSettings } from "../../env.ts";
import { newId } from "../../ids.ts";
import { findRepo } from "../repos/find-repo.ts";
import { commitTo, someRepo } from "../testing/repos.ts";
import { openRepository, repositoryPath } from "./repository.ts";

test("a repository whose folder is missing is unavailable, and not created again", async () => {
  const ada = await signedInPerson();
  const empty = await someRepo(ada);
  await commitTo(empty, ada, { "a.txt": "1" });
  const repo = await findRepo(ada.actor, { type: "model", ...nameOf(empty.fullName) });
  const path = repositoryPath(repo.id);
  await rename(path, `${path}.elsewhere`);
  for (const _ of ["once", "again"]) {
    await expect(openRepository(repo)).rejects.toMatchObject({ code: "unavailable" });
    await expect(access(path)).rejects.toMatchObject({ code: "ENOENT" });
  }
  await rename(`${path}.elsewhere`, path);
  expect(await openRepository(repo)).toBe(path);
});

test("a repository whose folder cannot be created on this machine is unavailable", async () => {
  const before = env().DATA_DIR;
  provideSettings({ DATA_DIR: import.meta.filename });
  try {
    const repo = { id: newId(), defaultBranch: "main", platformId: null, sizeBytes: 1 };
    await expect(openRepository(repo)).rejects.toMatchObject({ code: "unavailable" });
  } finally {
    provideSettings({ DATA_DIR: before });
  }
});

function nameOf(fullName: string): { owner: string; name: string } {
  const [owner = "", name = ""] = fullName.split("/");
  return { owner, name };
}
