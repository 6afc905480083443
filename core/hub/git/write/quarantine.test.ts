import { mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { openQuarantine } from "./quarantine.ts";

test("objects arrive while git's maintenance removes empty folders", async () => {
  const path = await mkdtemp(join(tmpdir(), "keyhook-quarantine-"));
  const folder = join(path, "objects", "ab");
  await mkdir(folder, { recursive: true });
  let isOver = false;
  // `git gc` does this at its end.
  const maintenance = (async () => {
    for (; !isOver; await delay(1)) await rmdir(folder).catch(() => undefined);
  })();
  const names = Array.from({ length: 200 }, (_, nth) => `${nth}`.padStart(38, "0"));
  try {
    for (const name of names) {
      const quarantine = await openQuarantine(path);
      await mkdir(join(quarantine.path, "objects", "ab"));
      await writeFile(join(quarantine.path, "objects", "ab", name), name);
      await quarantine.release();
      expect(await readdir(folder)).toEqual([name]);
      await rm(join(folder, name));
      await quarantine.discard();
    }
  } finally {
    isOver = true;
    await maintenance;
    await rm(path, { recursive: true });
  }
});
