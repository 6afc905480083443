import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startChild } from "./child.ts";

it("S116 a process that answers requests gets no credentials of the database's owner or of backups", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhook-child-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const secret = "of-the-owner-of-the-database";
  vi.stubEnv("DATABASE_OWNER_URL", `postgres://owner:${secret}@db.example.com/keyhook`);
  vi.stubEnv("DATABASE_OWNER_URL_FILE", join(folder, secret));
  vi.stubEnv("POSTGRES_PASSWORD", secret);
  vi.stubEnv("BACKUP_PASSWORD", secret);
  vi.stubEnv("BACKUP_S3_SECRET_ACCESS_KEY", secret);
  vi.stubEnv("KEYHOOK_PASSED_ON", "yes");
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, "child.mjs");
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs";
     writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid));
     process.on("message", () => undefined);
     process.send("ready");`,
  );
  const child = startChild(relative(join(import.meta.dirname, "../.."), file));
  onTestFinished(() => child.stop());
  await child.ready;
  const environment = readFileSync(`/proc/${readFileSync(join(folder, "pid"), "utf8")}/environ`, "utf8");
  expect(environment).toContain("KEYHOOK_PASSED_ON=yes");
  expect(environment).not.toContain(secret);
  for (const name of ["DATABASE_OWNER_URL", "DATABASE_OWNER_URL_FILE", "POSTGRES_PASSWORD"])
    expect(environment.split("\0")).toContain(`${name}=`);
});
