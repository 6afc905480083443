import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Caller, someCaller } from "../../../api/testing/hub-caller.ts";
import { startCliWorld } from "../testing/cli-world.ts";
import { newConfigDir } from "../testing/run-cli.ts";

let world: Awaited<ReturnType<typeof startCliWorld>>;
let ada: Caller;
beforeAll(async () => {
  world = await startCliWorld();
  ada = await someCaller("webhooks");
});
afterAll(() => world.stop());

const PROGRAM = join(import.meta.dirname, "keyhook.ts");

function start(argv: string[]) {
  const env = { ...process.env, KEYHOOK_URL: world.origin, KEYHOOK_TOKEN: ada.accessToken, KEYHOOK_CONFIG_DIR: newConfigDir() };
  const child = spawn(process.execPath, [PROGRAM, ...argv], { env });
  const ran = { child, stdout: "", stderr: "" };
  child.stdout.on("data", (piece) => {
    ran.stdout += piece;
  });
  child.stderr.on("data", (piece) => {
    ran.stderr += piece;
  });
  return { ...ran, ran, exited: once(child, "close").then(([code, signal]) => ({ ...ran, code, signal })) };
}

test("the exit code shows the outcome, and standard output has only the result", async () => {
  const [version, fine, refused, wrong, helped] = await Promise.all(
    [
      ["--version"],
      ["webhooks", "ls", "--json"],
      ["webhooks", "info", "a".repeat(24)],
      ["webhooks", "create"],
      ["jobs", "run", "--help"],
    ].map((argv) => start(argv).exited),
  );
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: "" });
  expect(fine).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^Error: Webhook not found/) });
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(helped).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage: keyhook jobs run"), stderr: "" });
});

test("a closed pipe is not a failure, and Ctrl-C prints no stack trace", async () => {
  const piped = start(["--help"]);
  piped.child.stdout.destroy();
  expect(await piped.exited).toMatchObject({ code: 0, stderr: "" });

  const { child, ran, exited } = start(["login", world.origin]);
  while (!ran.stdout.includes("check that it shows the code")) await once(child.stdout, "data");
  child.kill("SIGINT");
  expect(await exited).toMatchObject({ code: 130, stderr: "" });
});

test("commands, options and option values are completed in three shells", async () => {
  const [commands, options, values, ...scripts] = await Promise.all(
    [
      ["complete", "--", "webhooks", "re"],
      ["complete", "--", "webhooks", "create", "--w"],
      ["complete", "--", "webhooks", "ls", "--format", ""],
      ...["bash", "zsh", "fish"].map((shell) => ["completion", shell]),
    ].map((argv) => start(argv).exited),
  );
  expect(commands?.stdout).toMatch(/^replay\t/m);
  expect(options?.stdout).toMatch(/^--watch\t/m);
  expect(values?.stdout).toMatch(/^agent\b/m);
  for (const script of scripts) {
    expect(script).toMatchObject({ code: 0, stderr: "" });
    expect(script.stdout).toContain("keyhook complete --");
  }
  expect((await start(["completion", "tcsh"]).exited).code).toBe(2);
});
