import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { someCaller } from "../../../api/testing/hub-caller.ts";
import { organizationOf, signedInPerson } from "../../../core/accounts/testing/people.ts";
import { pool } from "../../../core/db.ts";
import { authorizeDevice, startCliWorld } from "../testing/cli-world.ts";
import { newConfigDir, type RunOptions, runCli } from "../testing/run-cli.ts";

let world: Awaited<ReturnType<typeof startCliWorld>>;
beforeAll(async () => {
  world = await startCliWorld();
});
afterAll(() => world.stop());

const SOON = { timeout: 15_000 };
const fileIn = (dir: string) => JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8"));

async function signedIn(person: Awaited<ReturnType<typeof signedInPerson>>, argv: string[] = [], options: RunOptions = {}) {
  const dir = options.env?.KEYHOOK_CONFIG_DIR ?? newConfigDir();
  let seen = "";
  // The test skips the five seconds between two polls.
  const answered = Promise.withResolvers<void>();
  options.signal?.addEventListener("abort", () => answered.reject(new Error("interrupted")));
  const running = runCli(["login", world.origin, ...argv], {
    ...options,
    wait: () => answered.promise,
    env: { KEYHOOK_CONFIG_DIR: dir },
    onOutput: (text) => {
      seen += text;
    },
  });
  const code = await vi.waitFor(() => {
    const shown = /\b([A-Z]{4}-[A-Z]{4})\b/.exec(seen)?.[1];
    expect(shown).toBeDefined();
    return shown as string;
  }, SOON);
  const allow = async (orgIds?: string[]) => {
    await authorizeDevice(person, code, orgIds);
    answered.resolve();
    return running;
  };
  return { dir, code, running, allow, env: { KEYHOOK_CONFIG_DIR: dir } };
}

test("login stores a token after the user has entered the code, and logout ends that token", async () => {
  const ada = await signedInPerson();
  const organization = await organizationOf(ada);
  const opened: string[] = [];
  const { dir, code, allow, env } = await signedIn(ada, [], {
    isTerminal: true,
    openBrowser: async (url) => {
      opened.push(url);
      return true;
    },
  });
  const { code: exit, stdout, stderr } = await allow([organization.id]);
  expect([exit, stderr], stderr).toEqual([0, expect.stringContaining("Your browser should open")]);
  expect(stdout).toContain(`    ${world.origin}/device\n`);
  expect(stdout).toMatch(/[█▀▄]{10}/);
  expect(stdout).toContain(`Signed in to ${world.origin} as ${ada.username}\nname: ${ada.username}\n`);
  expect(opened).toEqual([`${world.origin}/device?user_code=${code}`]);

  const { accessToken, refreshToken, expiresAt } = fileIn(dir)[world.origin];
  expect(refreshToken).toEqual(expect.any(String));
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(29 * 86_400_000);
  const whoami = await runCli(["whoami", "--format", "human"], { env });
  expect(whoami.stdout).toContain(`name: ${ada.username}\nfullName: ${ada.username}\nemail: ${ada.email}\n`);
  expect(whoami.stdout).toContain(`organizations: ${organization.name} (admin)\n`);
  expect((await runCli(["whoami", "-q"], { env })).stdout).toBe(`${ada.username}\n`);
  expect(JSON.parse((await runCli(["whoami", "--json"], { env })).stdout)).toMatchObject({
    name: ada.username,
    url: world.origin,
  });
  expect((await runCli(["whoami"], { env })).stdout).toMatch(new RegExp(`^name=${ada.username} fullName=\\S+ `));
  expect((await runCli(["orgs", "ls"], { env })).stdout).toContain(`${organization.name}\t`);

  const out = await runCli(["logout", "--format", "human"], { env });
  expect(out).toMatchObject({ code: 0, stdout: `Signed out of ${world.origin}\nurl: ${world.origin}\n` });
  expect(fileIn(dir)).toEqual({});
  const headers = { authorization: `Bearer ${accessToken}` };
  expect((await fetch(`${world.origin}/api/whoami-v2`, { headers })).status).toBe(401);
  expect((await runCli(["whoami"], { env: { ...env, KEYHOOK_URL: world.origin } })).code).toBe(1);
});

test("for programs, login prints one line with the address and the code, and opens no browser", async () => {
  const ada = await signedInPerson();
  const { code, allow } = await signedIn(ada, [], { openBrowser: () => Promise.reject(new Error("no browser was asked for")) });
  const { stdout, code: exit } = await allow();
  expect(exit).toBe(0);
  expect(stdout.split("\n")[0]).toBe(`Open ${world.origin}/device?user_code=${code} and check that it shows the code ${code}`);
  const quiet = await signedIn(ada, ["-q"]);
  expect((await quiet.allow()).stdout).toBe(`${ada.username}\n`);
});

test("login --no-browser opens no browser, and Ctrl-C ends it without storing anything", async () => {
  const interrupt = new AbortController();
  const { dir, running } = await signedIn(await signedInPerson(), ["--no-browser"], {
    isTerminal: true,
    signal: interrupt.signal,
    openBrowser: () => Promise.reject(new Error("no browser was asked for")),
  });
  interrupt.abort();
  const { code, stderr } = await running;
  expect([code, stderr]).toEqual([130, expect.not.stringContaining("Error")]);
  expect(() => fileIn(dir)).toThrow();
});

test("login --token stores the token only after the service has accepted it", async () => {
  const ada = await someCaller("webhooks");
  const env = { KEYHOOK_CONFIG_DIR: newConfigDir(), KEYHOOK_URL: world.origin };
  const refused = await runCli(["login", "--token"], { env, stdin: "kh_nobodys\n" });
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  for (const stdin of ["", " \n", "two words", "x".repeat(10_000)]) {
    expect(await runCli(["login", "--token"], { env, stdin })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no token"),
    });
  }
  expect(await runCli(["login", "--token"], { env, stdin: `${ada.accessToken}\n` })).toMatchObject({ code: 0 });
  expect(fileIn(env.KEYHOOK_CONFIG_DIR)).toEqual({ [world.origin]: { accessToken: ada.accessToken } });
  expect((await runCli(["webhooks", "ls"], { env })).code).toBe(0);
  expect((await runCli(["logout"], { env })).code).toBe(0);
  expect((await runCli(["whoami", "--token", ada.accessToken], { env })).code).toBe(0);
});

test("simultaneous commands renew an expiring token only once", async () => {
  const ada = await signedInPerson();
  const { dir, allow, env } = await signedIn(ada);
  await allow();
  const before = fileIn(dir)[world.origin];
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  writeFileSync(join(dir, "credentials.json"), JSON.stringify({ [world.origin]: { ...before, expiresAt: inAnHour } }));
  const ran = await Promise.all(Array.from({ length: 5 }, () => runCli(["whoami", "-q"], { env })));
  expect(ran.map(({ code, stdout }) => [code, stdout])).toEqual(Array(5).fill([0, `${ada.username}\n`]));
  const after = fileIn(dir)[world.origin];
  expect(after.refreshToken).not.toBe(before.refreshToken);
  expect(Date.parse(after.expiresAt) - Date.now()).toBeGreaterThan(29 * 86_400_000);
  const { rows } = await pool().query("SELECT 1 FROM oauth_artifact WHERE account_id = $1 AND model = 'RefreshToken'", [ada.id]);
  expect(rows).toHaveLength(2);

  await pool().query("UPDATE oauth_consent SET revoked_at = now() WHERE user_id = $1", [ada.id]);
  const over = await runCli(["whoami"], { env });
  expect(over).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("keyhook login") });
});

test("S113 an old sign-in cannot take over apps, and the refusal says how to continue", async () => {
  const ada = await signedInPerson();
  const { allow, env } = await signedIn(ada);
  await allow();
  const redirect = ["--redirect-uri", "https://app.example.com/callback"];
  const made = await runCli(["apps", "create", "Night Ferry", "--confidential", ...redirect], { env });
  const [, id = "", secret = ""] = /^id=(\w+) clientId=\S+ secret=(\S+)\n$/.exec(made.stdout) ?? [];
  expect(secret, made.stderr).not.toBe("");
  await pool().query(
    "UPDATE oauth_grant SET payload = jsonb_set(payload, '{authTime}', to_jsonb((payload ->> 'authTime')::int - 901)) WHERE user_id = $1",
    [ada.id],
  );
  const refused = await runCli(["apps", "rotate-secret", id, "--yes"], { env });
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("Sign in again from the command line") });
});

test("a damaged file is reported before the user is sent to a browser", async () => {
  const dir = newConfigDir();
  writeFileSync(join(dir, "credentials.json"), "{");
  const { code, stdout, stderr } = await runCli(["login", world.origin], { env: { KEYHOOK_CONFIG_DIR: dir } });
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("credentials.json is damaged")]);
});
