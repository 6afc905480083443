import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { provideSettings } from "#core/env.ts";
import { checkBackups } from "./doctor/backups.ts";
import { adminLine } from "./testing/admin-line.ts";

test("backups are made, listed and verified, and doctor reports the last one", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  provideSettings({ BACKUP_PASSWORD: "" });
  expect(await adminLine("backup", "--to", folder)).toMatchObject({
    exitCode: 1,
    json: { code: "backup", error: expect.stringMatching(/BACKUP_PASSWORD is not set/) },
  });
  expect(await checkBackups()).toMatchObject([{ status: "warn", found: "none yet" }]);

  provideSettings({ BACKUP_PASSWORD: "a password only for the tests of backups" });
  const made = await adminLine("backup", "--to", folder, "--keep", "2");
  expect(made).toMatchObject({ exitCode: 0, json: { repositories: 0, large_files: 0, removed: 0 } });
  expect(await checkBackups()).toMatchObject([{ status: "ok", found: expect.stringContaining(folder) }]);
  const { id } = made.json;
  expect((await adminLine("backup", "list", "--from", folder)).json).toMatchObject({ backups: [{ id }] });
  const verified = await adminLine("backup", "verify", "--from", folder, "--quick");
  expect(verified).toMatchObject({ exitCode: 0, json: { ok: true, id, missing_files: [], missing_repositories: [] } });
  expect(await adminLine("restore", "--from", folder)).toMatchObject({
    exitCode: 1,
    text: expect.stringMatching(/is not empty/),
  });
});

test("the number of backups to keep must be at least one", async () => {
  expect(await adminLine("backup", "--to", tmpdir(), "--keep", "0")).toMatchObject({ exitCode: 2, json: { code: "usage" } });
});
