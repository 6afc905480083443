import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { childEnvironment, provideSettings, SettingsError } from "../../env.ts";
import { checkGit, isAtLeast } from "./check-git.ts";

const path = String(childEnvironment().PATH);
const folder = mkdtempSync(join(tmpdir(), "keyhook-no-git-"));
// PATH is not a setting of the service, but child processes get it in the same way.
const setPath = (value: string) => provideSettings({ PATH: value } as Record<string, string>);
afterEach(() => {
  setPath(path);
  rmSync(join(folder, "git"), { force: true });
});

test("the git of this machine is accepted", async () => {
  expect(await checkGit()).toMatch(/^\d+\.\d+/);
});

test("without git, or with an old version, the check fails with the reason", async () => {
  setPath(folder);
  await expect(checkGit()).rejects.toThrow(SettingsError);
  await expect(checkGit()).rejects.toThrow(/git cannot be run: .*Install git 2\.38 or later/);
  writeFileSync(join(folder, "git"), "#!/bin/sh\necho git version 2.30.2\n", { mode: 0o755 });
  await expect(checkGit()).rejects.toThrow("git 2.30.2 is too old. Install git 2.38 or later.");
});

test.each([
  ["2.38", true],
  ["2.38.0", true],
  ["2.39.5", true],
  ["3.0.1", true],
  ["2.4.11", false],
  ["2.37.9", false],
  ["1.99", false],
  ["0", false],
])("version %s is enough: %s", (version, isEnough) => {
  expect(isAtLeast(version, "2.38")).toBe(isEnough);
});
