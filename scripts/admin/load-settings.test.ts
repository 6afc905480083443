import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childEnvironment } from "#core/env.ts";

const OTHER_USER = 65_534;

test.runIf(process.getuid?.() === 0).each([["doctor"], ["backup", "list", "--from", "/nowhere"], ["user", "list"]])(
  "root is refused in another user's DATA_DIR, where the service could not use root's files: %s",
  (...args) => {
    const directory = mkdtempSync(join(tmpdir(), "keyhook-data-"));
    try {
      chownSync(directory, OTHER_USER, OTHER_USER);
      const run = spawnSync(process.execPath, [join(import.meta.dirname, "../admin.ts"), ...args], {
        env: childEnvironment({ DATA_DIR: directory }),
        encoding: "utf8",
      });
      expect(readdirSync(directory)).toEqual([]);
      expect(run.stdout + run.stderr).toContain(`runuser -u "$(stat -c %U ${directory})"`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
