import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childEnvironment } from "#core/env.ts";

const OTHER_USER = 65_534;

test.runIf(process.getuid?.() === 0)("doctor fails if the service's user cannot write to the repositories' file system", () => {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-data-"));
  const repositories = join(directory, "repositories");
  try {
    chownSync(directory, OTHER_USER, OTHER_USER);
    mkdirSync(repositories);
    const { stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "../../admin.ts"), "doctor", "--json"], {
      uid: OTHER_USER,
      gid: OTHER_USER,
      env: childEnvironment({ DATA_DIR: directory, DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" }),
      encoding: "utf8",
    });
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({ check: "data directory", status: "fail", found: expect.stringContaining(repositories) }),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});
