import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "./fixtures.ts";

test("the command line signs in with a code that is entered in a browser, manages webhooks, and signs out", async ({
  page,
  demo,
  person,
  signInPage,
  devicePages,
}) => {
  const cli = new KeyhookCli(demo.origin);
  const login = cli.start("login");
  const code = await login.shows(/shows the code ([A-Z]{4}-[A-Z]{4})/);
  const address = await login.shows(/Open (\S+) and check/);
  await page.goto(address);
  await signInPage.signIn(person);
  await expect(devicePages.code).toHaveValue(code);
  await devicePages.continueButton.click();
  await devicePages.confirm(code);
  await devicePages.modal.authorize();
  await devicePages.expectTitle(/You have authorized/);
  expect(await login.ended()).toMatchObject({ code: 0, stdout: expect.stringContaining(`name=${person.username} `) });

  const whoami = await cli.run("whoami", "--json");
  expect(JSON.parse(whoami.stdout)).toMatchObject({ name: person.username, email: person.email, url: demo.origin });
  const hook = "https://hooks.example.com/events";
  const made = await cli.run("webhooks", "create", "--url", hook, "--watch", `user:${person.username}`, "-q");
  const id = made.stdout.trim();
  await page.goto("/settings/webhooks");
  await expect(page.getByText("hooks.example.com").first()).toBeVisible();
  expect((await cli.run("webhooks", "ls", "-q")).stdout).toBe(`${id}\n`);
  expect((await cli.run("webhooks", "delete", id)).code).toBe(1);
  expect((await cli.run("webhooks", "delete", id, "--yes")).stdout).toBe(`id=${id}\n`);
  expect((await cli.run("webhooks", "ls")).stdout).toBe("No results found.\n");

  expect((await cli.run("logout")).code).toBe(0);
  expect(await cli.run("whoami")).toMatchObject({ code: 1, stderr: expect.stringContaining("keyhook login") });
});

const PROGRAM = resolve(import.meta.dirname, "../packages/cli/src/keyhook.ts");

type Ended = { code: number | null; stdout: string; stderr: string };

class KeyhookCli {
  readonly #env: NodeJS.ProcessEnv;

  constructor(origin: string) {
    const { KEYHOOK_TOKEN: _, ...env } = process.env;
    const KEYHOOK_CONFIG_DIR = mkdtempSync(join(tmpdir(), "keyhook-e2e-"));
    this.#env = { ...env, KEYHOOK_URL: origin, KEYHOOK_CONFIG_DIR };
  }

  start(...argv: string[]) {
    const child = spawn(process.execPath, [PROGRAM, ...argv], { env: this.#env, stdio: ["ignore", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (text) => {
        printed[name] += text;
      });
    }
    const closed = once(child, "close");
    return {
      async shows(pattern: RegExp): Promise<string> {
        for (;;) {
          const [, found] = pattern.exec(printed.stdout) ?? [];
          if (found !== undefined) return found;
          const more = await Promise.race([once(child.stdout, "data"), closed.then(() => undefined)]);
          if (!more) throw new Error(`It ended without: ${pattern}\n${printed.stdout}${printed.stderr}`);
        }
      },
      async ended(): Promise<Ended> {
        const [code] = await closed;
        return { code, ...printed };
      },
    };
  }

  run(...argv: string[]): Promise<Ended> {
    return this.start(...argv).ended();
  }
}
