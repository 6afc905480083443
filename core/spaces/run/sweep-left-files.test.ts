import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepSweepingTemporaryFolders, makeTemporaryFolder } from "../../temporary-folder.ts";
import { sweepLeftFiles } from "./sweep-left-files.ts";

// In separate containers, each process has its own /tmp.
const sweeps = { worker: sweepLeftFiles, "web process": keepSweepingTemporaryFolders };

test.each(Object.entries(sweeps))(
  "S137 temporary folders that a killed %s has left are removed after a day",
  async (_, sweep) => {
    const goes = [await makeTemporaryFolder("merge"), await makeTemporaryFolder("fetch"), await makeTemporaryFolder("payload")];
    const stays = [await makeTemporaryFolder("merge"), mkdtempSync(join(tmpdir(), "keyhook-merge-00000000-"))];
    for (const folder of goes) writeFileSync(join(folder, "left"), "something");
    const yesterday = Date.now() / 1000 - 25 * 60 * 60;
    for (const folder of [...goes, stays[1] ?? ""]) utimesSync(folder, yesterday, yesterday);

    await sweep();
    await expect.poll(() => goes.map(existsSync)).toEqual([false, false, false]);
    expect(stays.map(existsSync)).toEqual([true, true]);
    for (const folder of stays) rmSync(folder, { recursive: true });
  },
);
