import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { signInByCli } from "../../../api/testing/cli-sign-in.ts";
import { someCaller } from "../../../api/testing/hub-caller.ts";
import { organizationOf, signedInPerson } from "../../../core/accounts/testing/people.ts";
import { db, pool } from "../../../core/db.ts";
import { newId } from "../../../core/ids.ts";
import { appendLog } from "../../../core/jobs/logs/log-writer.ts";
import { JOB_LOG_CHANNEL } from "../../../core/jobs/stages.ts";
import { startCliWorld } from "../testing/cli-world.ts";
import { newConfigDir, type RunOptions, runCli } from "../testing/run-cli.ts";

let world: Awaited<ReturnType<typeof startCliWorld>>;
beforeAll(async () => {
  world = await startCliWorld();
});
afterAll(() => world.stop());

const keyhook = (token: string, argv: string[], options: RunOptions = {}) =>
  runCli(argv, { ...options, env: { KEYHOOK_URL: world.origin, KEYHOOK_TOKEN: token, ...options.env } });

describe("keyhook apps", () => {
  test("creates, lists, changes and deletes an app in each format", async () => {
    const { accessToken: token } = await signInByCli(world.origin, await signedInPerson());
    const redirect = ["--redirect-uri", "https://app.example.com/callback"];
    const human = await keyhook(token, ["apps", "create", "Night Ferry", "--confidential", ...redirect, "--format", "human"]);
    const [, id = "", clientId = ""] = /^App created\nid: (\w+)\nclientId: (\S+)\nsecret: \S+\n$/.exec(human.stdout) ?? [];
    expect(id, human.stderr).not.toBe("");
    expect((await keyhook(token, ["apps", "ls"])).stdout).toBe(
      `id\tname\tclientId\tconfidential\tscopes\tusers\n${id}\tNight Ferry\t${clientId}\ttrue\topenid,profile\t0\n`,
    );
    expect((await keyhook(token, ["apps", "ls", "-q"])).stdout).toBe(`${id}\n`);
    expect(JSON.parse((await keyhook(token, ["apps", "ls", "--json"])).stdout)).toMatchObject([{ id, isConfidential: true }]);
    expect((await keyhook(token, ["apps", "ls", "--format", "human"])).stdout).toMatch(/^ID +NAME +CLIENTID +CONFIDENTIAL/);

    const scopes = ["--scope", "openid", "--scope", "email", "--device"];
    expect((await keyhook(token, ["apps", "update", id, "--name", "Day Ferry", ...scopes])).stdout).toBe(`id=${id}\n`);
    const info = JSON.parse((await keyhook(token, ["apps", "info", id])).stdout);
    expect(info).toMatchObject({ name: "Day Ferry", scopes: ["openid", "email"], isDeviceFlowAllowed: true });
    expect((await keyhook(token, ["apps", "update", id])).code).toBe(2);

    expect((await keyhook(token, ["apps", "rotate-secret", id])).stderr).toContain("--yes");
    const rotated = await keyhook(token, ["apps", "rotate-secret", id, "--overlap", "1h", "-q"]);
    expect([rotated.stdout, rotated.stderr]).toEqual([`${id}\n`, expect.stringMatching(/^secret: \S+\n$/)]);
    expect((await keyhook(token, ["apps", "rotate-secret", id, "--overlap", "soon"])).code).toBe(2);
    expect((await keyhook(token, ["apps", "delete", id])).code).toBe(1);
    expect((await keyhook(token, ["apps", "delete", id, "-y", "--json"])).stdout).toBe(`{"id":"${id}"}\n`);
    expect((await keyhook(token, ["apps", "info", id])).code).toBe(1);
  });

  test("an error names the missing scope or redirect URI", async () => {
    const reader = await someCaller("webhooks");
    expect((await keyhook(reader.accessToken, ["apps", "ls"])).stderr).toContain("manage-repos");
    const own = await someCaller("manage-repos");
    const none = await keyhook(own.accessToken, ["apps", "create", "x"]);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("redirect URI") });
  });
});

describe("keyhook orgs and audit", () => {
  test("exports the audit log to standard output or to a file that only the user can read", async () => {
    const [ada, bea] = [await signedInPerson(), await signedInPerson()];
    const organization = await organizationOf(ada, [[bea, "write"]]);
    await db().organization.update({ where: { id: organization.id }, data: { plan: "enterprise" } });
    const { accessToken: token } = await signInByCli(world.origin, ada, { orgIds: [organization.id] });
    const { name } = organization;
    expect((await keyhook(token, ["orgs", "ls"])).stdout).toMatch(
      new RegExp(`^name\tfullName\trole\tplan\n${name}\t\\S+\tadmin\tenterprise\n$`),
    );
    expect(JSON.parse((await keyhook(token, ["orgs", "info", name])).stdout)).toMatchObject({ name, type: "org" });
    expect((await keyhook(token, ["orgs", "members", name, "-q"])).stdout).toBe(`${ada.username}\n${bea.username}\n`);
    expect((await keyhook(token, ["orgs", "info", "nobody-at-all"])).code).toBe(1);

    const lines = (await keyhook(token, ["audit", "export", name, "--since", "1d"])).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).type)).toContain("organization.create");
    expect((await keyhook(token, ["audit", "export", name, "--until", "2020-01-01"])).stdout).toBe("");
    const asJson = await keyhook(token, ["audit", "export", name, "--json"]);
    expect(JSON.parse(asJson.stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ type: "organization.create" })]));
    const dir = newConfigDir();
    const file = join(dir, "log.csv");
    const written = await keyhook(token, ["audit", "export", name, "--format", "csv", "-o", file]);
    expect([written.code, written.stdout, written.stderr]).toEqual([0, "", `Written to ${file}\n`]);
    expect(readFileSync(file, "utf8")).toMatch(/^\S*,/);
    expect([(statSync(file).mode & 0o777).toString(8), readdirSync(dir)]).toEqual(["600", ["log.csv"]]);
    const nowhere = await keyhook(token, ["audit", "export", name, "-o", join(dir, "no", "such", "folder")]);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("Choose another file") });
    for (const bad of [
      ["--format", "xml"],
      ["--since", "yesterday"],
    ]) {
      expect((await keyhook(token, ["audit", "export", name, ...bad])).code).toBe(2);
    }
    const { accessToken: other } = await signInByCli(world.origin, bea, { orgIds: [organization.id] });
    expect(await keyhook(other, ["audit", "export", name, "-o", join(dir, "b")])).toMatchObject({ code: 1, stdout: "" });
    expect(readdirSync(dir)).toEqual(["log.csv"]);
  });
});

describe("keyhook jobs", () => {
  async function end(runId: string, exitCode: number): Promise<void> {
    const stage = exitCode === 0 ? "COMPLETED" : "ERROR";
    await db().jobRun.update({ where: { id: runId }, data: { stage, exitCode, startedAt: new Date(), finishedAt: new Date() } });
    await pool().query("select pg_notify($1, $2)", [JOB_LOG_CHANNEL, runId]);
  }

  async function say(runId: string, text: string): Promise<void> {
    const claimId = newId();
    const claim = { claimId, claimedUntil: new Date(Date.now() + 60_000), stage: "RUNNING", startedAt: new Date() };
    await db().jobRun.update({ where: { id: runId }, data: claim });
    await appendLog(runId, claimId, [{ at: new Date(), stream: "stdout", text }]);
  }

  test("runs, lists, shows and cancels jobs, with an exit code that shows whether the job succeeded", async () => {
    const { accessToken: token } = await someCaller("jobs");
    const started = await keyhook(
      token,
      [
        "jobs",
        "run",
        "-d",
        "-e",
        "A=b=c",
        "-s",
        "TIDE",
        "--label",
        "team=tides",
        "--timeout",
        "5m",
        "python:3.12",
        "python",
        "-c",
        "print(1)",
        "-q",
      ],
      { env: { TIDE: "very secret" } },
    );
    const [, id = ""] = /^id=(\w+)\n$/.exec(started.stdout) ?? [];
    expect(id, started.stderr).not.toBe("");
    expect(JSON.parse((await keyhook(token, ["jobs", "inspect", id])).stdout)).toMatchObject({
      dockerImage: "python:3.12",
      command: ["python", "-c", "print(1)", "-q"],
      environment: { A: "b=c" },
      secrets: ["TIDE"],
      labels: { team: "tides" },
      timeoutSeconds: 300,
    });
    expect((await keyhook(token, ["jobs", "ps"])).stdout).toMatch(
      new RegExp(`^id\timage\tcommand\tcreated\tstatus\n${id}\tpython:3.12\tpython -c print\\(1\\) -q\t\\S+\tSCHEDULING\n$`),
    );
    await say(id, "high tide \u001b[31m09:12\n");
    const following = keyhook(token, ["jobs", "logs", id]);
    await end(id, 0);
    expect(await following).toMatchObject({ code: 0, stdout: "high tide \\x1b[31m09:12\n" });
    expect((await keyhook(token, ["jobs", "ps"])).stdout).toBe("No results found.\n");
    expect((await keyhook(token, ["jobs", "ps", "-a", "-q", "-l", "team=tides"])).stdout).toBe(`${id}\n`);
    expect(JSON.parse((await keyhook(token, ["jobs", "logs", id, "--json"])).stdout)).toMatchObject({
      data: expect.stringContaining("high tide"),
    });

    let seen = "";
    const waiting = keyhook(token, ["jobs", "run", "python:3.12", "false"], {
      onOutput: (text) => {
        seen += text;
      },
    });
    const second = await vi.waitFor(() => {
      const [, found] = /Job (\w+) started/.exec(seen) ?? [];
      expect(found).toBeDefined();
      return found as string;
    });
    await end(second, 3);
    expect(await waiting).toMatchObject({ code: 1, stderr: expect.stringContaining(`Job ${second} ended in the stage ERROR`) });
    const third = (await keyhook(token, ["jobs", "run", "-d", "--json", "python:3.12", "true"])).stdout;
    const cancelled = await keyhook(token, ["jobs", "cancel", JSON.parse(third).id, "--format", "human"]);
    expect(cancelled.stdout).toBe(`Job cancelled\nid: ${JSON.parse(third).id}\n`);
  });

  test("exits with 2 after invalid input", async () => {
    const { accessToken: token } = await someCaller("jobs");
    for (const argv of [
      ["run"],
      ["run", "-e", "x", "image", "command"],
      ["run", "-s", "NOT_SET_ANYWHERE", "image", "command"],
      ["run", "--timeout", "x", "i"],
    ]) {
      expect([argv, (await keyhook(token, ["jobs", ...argv])).code]).toEqual([argv, 2]);
    }
    expect((await keyhook(token, ["jobs", "logs", "a".repeat(24)])).code).toBe(1);
  });
});
