import pg from "pg";
import { expect, test, vi } from "vitest";
import { signedInPerson } from "../../../accounts/testing/people.ts";
import { pool } from "../../../db.ts";
import { openRepository } from "../../git/repository.ts";
import { runGit } from "../../git/run-git.ts";
import { someRepo } from "../../testing/repos.ts";
import { adoptFiles } from "./proposed-files.ts";

const OBJECTS = 30_000;

test("S149 a proposed file does not slow down a push of very many objects", async () => {
  const repo = await someRepo(await signedInPerson());
  const path = await openRepository(repo);
  const files = Array.from({ length: OBJECTS }, (_, n) => `M 100644 inline ${n % 100}/${n}\ndata ${String(n).length}\n${n}\n`);
  const commit = ["commit refs/pr/1\ncommitter Ada <> 0 +0000\ndata 1\nx\n", ...files].join("");
  await runGit(path, ["fast-import", "--quiet"], { input: commit });
  const sha = (await runGit(path, ["rev-parse", "refs/pr/1"])).toString("latin1").trim();
  const last = (await runGit(path, ["hash-object", "--stdin"], { input: String(OBJECTS - 1) })).toString("latin1").trim();
  const oid = "d".repeat(64);
  await pool().query("INSERT INTO proposed_file (repo_id, num, blob, oid) VALUES ($1, 1, $2, $3)", [repo.id, last, oid]);
  const query = vi.spyOn(pg.Client.prototype, "query");
  try {
    const adopting = adoptFiles(repo, path, [{ ref: "refs/heads/main", oldSha: null, newSha: sha }], undefined);
    await expect(adopting).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(oid) });
    const asked = query.mock.calls.filter(([about]) => JSON.stringify(about).includes("proposed_file"));
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(8);
  } finally {
    query.mockRestore();
  }
});
