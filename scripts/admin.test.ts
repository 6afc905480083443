import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { findPersonalAccessToken } from "#core/accounts/tokens/find-personal-access-token.ts";
import { hashToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { childEnvironment, provideSettings, env as settings } from "#core/env.ts";
import { startBucket } from "#core/hub/lfs/testing/start-bucket.ts";
import { freePort } from "#core/postgres/free-port.ts";
import { startPooler } from "#core/testing/start-pooler.ts";
import { appCreate } from "./admin/app.ts";
import { helpText } from "./admin/help.ts";
import { adminLine } from "./admin/testing/admin-line.ts";

// Some commands run in a process of their own, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const script = join(import.meta.dirname, "admin.ts");

type Run = { code: number | null; stdout: string; stderr: string };

async function admin(
  args: string[],
  { env = {}, input = "" }: { env?: Record<string, string>; input?: string } = {},
): Promise<Run> {
  const child = spawn(process.execPath, [script, ...args], { env: childEnvironment(env), stdio: "pipe" });
  child.stdin.end(input);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await exited, stdout, stderr };
}

async function adminJson(...args: string[]): Promise<Record<string, string>> {
  const { exitCode, json, text } = await adminLine(...args);
  expect(exitCode, text).toBe(0);
  return json as Record<string, string>;
}

const password = "a long enough phrase";
const someone = (username: string) => [
  "user",
  "create",
  "--username",
  username,
  "--email",
  `${username}@example.test`,
  "--password",
  password,
];

test("a user, an organization, a member and an app are created, each printed as one JSON object", async () => {
  const printed = await admin([...someone("mara"), "--operator", "--full-name", "Mara Lindqvist", "--json"]);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  const mara = JSON.parse(printed.stdout);
  expect(await db().user.findUniqueOrThrow({ where: { id: mara.id } })).toMatchObject({
    username: "mara",
    fullName: "Mara Lindqvist",
    isOperator: true,
    emailVerifiedAt: expect.any(Date),
  });
  const ana = await adminJson(...someone("ana"));

  const org = await adminJson("org", "create", "--name", "tidepool", "--owner", "mara", "--plan", "enterprise");
  await adminJson("org", "add-member", "--org", "Tidepool", "--user", "ana", "--role", "write");
  expect(await db().organization.findUniqueOrThrow({ where: { id: org.id }, include: { memberships: true } })).toMatchObject({
    plan: "enterprise",
    memberships: expect.arrayContaining([
      expect.objectContaining({ userId: mara.id, role: "admin" }),
      expect.objectContaining({ userId: ana.id, role: "write" }),
    ]),
  });

  const open = await adminJson(
    ...["app", "create", "--owner", "ana", "--name", "Paper Lantern", "--scopes", "openid profile offline_access"],
    ...["--redirect-uri", "https://app.example.com/cb", "--redirect-uri", "http://localhost/cb", "--device"],
    ...["--post-logout-redirect-uri", "https://app.example.com/bye"],
  );
  expect(open).toEqual({ id: expect.any(String), client_id: expect.stringMatching(/^[A-Za-z0-9_-]+$/) });
  expect(await db().oAuthApp.findUniqueOrThrow({ where: { clientId: open.client_id } })).toMatchObject({
    ownerUserId: ana.id,
    redirectUris: ["https://app.example.com/cb", "http://localhost/cb"],
    postLogoutRedirectUris: ["https://app.example.com/bye"],
    scopes: ["openid", "profile"],
    isPkceRequired: true,
    isRefreshAllowed: true,
    isDeviceFlowAllowed: true,
  });

  const device = await adminJson("app", "create", "--owner", "ana", "--name", "Lighthouse", "--scopes", "openid", "--device");
  expect(await db().oAuthApp.findUniqueOrThrow({ where: { clientId: device.client_id } })).toMatchObject({
    redirectUris: [],
    isDeviceFlowAllowed: true,
    isRefreshAllowed: false,
  });

  const confidential = await adminJson(
    ...[
      "app",
      "create",
      "--org",
      "tidepool",
      "--name",
      "Kite",
      "--scopes",
      "openid",
      "--redirect-uri",
      "https://kite.example/cb",
    ],
    ...["--confidential", "--pkce", "off"],
  );
  const stored = await db().oAuthApp.findUniqueOrThrow({
    where: { clientId: confidential.client_id },
    include: { secrets: true },
  });
  expect(stored).toMatchObject({
    ownerOrgId: org.id,
    isPkceRequired: false,
    secrets: [{ secretHash: hashToken(confidential.client_secret ?? "") }],
  });
});

test("signing keys are rotated, and the output has no private keys", async () => {
  const { kids, active_at } = await adminJson("keys", "rotate");
  expect(kids).toHaveLength(2);
  expect(Date.parse(active_at ?? "")).toBeGreaterThan(Date.now());
  expect(await db().signingKey.count({ where: { kid: { in: kids as unknown as string[] } } })).toBe(2);
});

describe("exit code 2 and the reason on stderr, in the requested format, for", () => {
  test("an invalid command line", async () => {
    const reason = /--owner USER or --org ORG/;
    const line = ["app", "create", "--name", "Kite", "--scopes", "openid"];
    expect(await admin(line)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(reason) });
    const json = await admin(["--json", ...line, "--owner", "a", "--org", "b"]);
    expect(json).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(json.stderr)).toEqual({ error: expect.stringMatching(reason), code: "usage" });
    await expect(adminLine("user", "create")).rejects.toThrow("--username NAME is missing");
  });

  test("a value that is never valid, named by its option", async () => {
    await adminLine(...someone("ida"));
    const app = ["app", "create", "--owner", "ida", "--name", "Kite", "--scopes", "openid"];
    expect(await adminLine(...app, "--redirect-uri", "http://app.example.com/cb")).toMatchObject({
      exitCode: 2,
      json: { code: "invalid_request", field: "redirect-uri", error: expect.stringContaining("Use https") },
    });
  });
});

test("a personal access token is created, and found by its printed value", async () => {
  await adminLine(...someone("tess"));
  const made = await adminJson("token", "create", "--user", "tess", "--scopes", "read-repos jobs", "--expires", "7");
  expect(await findPersonalAccessToken(made.token ?? "")).toMatchObject({ id: made.id, scopes: ["read-repos", "jobs"] });
  expect(Date.parse(made.expires_at ?? "") - Date.now()).toBeGreaterThan(6.9 * 86_400_000);
  const lasting = await adminJson("token", "create", "--user", "tess", "--scopes", "read-repos");
  expect(lasting.expires_at).toBeNull();
  for (const days of ["soon", "0", "-1", "999"]) {
    expect(await adminLine("token", "create", "--user", "tess", "--scopes", "jobs", `--expires=${days}`)).toMatchObject({
      exitCode: 2,
    });
  }
});

test("the exit code is 1 if the request cannot be carried out now", async () => {
  await adminJson(...someone("twice"));
  expect(await adminLine(...someone("twice"))).toMatchObject({ exitCode: 1, json: { code: "conflict", field: "username" } });
  expect(await adminLine("org", "create", "--name", "orphan", "--owner", "nobody-here")).toMatchObject({
    exitCode: 1,
    text: expect.stringContaining('User "nobody-here" not found'),
  });
  expect(await admin(someone("late"), { env: { PORT: "none" } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("PORT"),
  });
});

test("a password can come from standard input, and is printed nowhere", async () => {
  const args = ["user", "create", "--username", "quiet", "--email", "quiet@example.test", "--password", "-"];
  const run = await admin(args, { input: `${password}\n` });
  expect(run.code).toBe(0);
  expect(run.stdout + run.stderr).not.toContain(password);
});

test("help lists the commands, explains one, and needs no database", async () => {
  const nowhere = { env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" } };
  const [all, one] = await Promise.all([admin(["--help"], nowhere), admin(["doctor", "--help", "--json"], nowhere)]);
  expect(all.code).toBe(0);
  for (const name of ["user create", "org create", "org add-member", "app create", "token create", "keys rotate", "doctor"]) {
    expect(all.stdout).toContain(name);
  }
  expect(JSON.parse(one.stdout)).toMatchObject({ name: "doctor" });
  expect(helpText([], appCreate)).toContain("--post-logout-redirect-uri");
});

describe("doctor", () => {
  type Finding = { check: string; status: string; found: string; advice?: string };

  const found = (code: number | null, checks: Finding[]) => ({
    code,
    all: checks,
    of: (check: string) => checks.find((finding) => finding.check === check),
  });

  async function examineOutside(env: Record<string, string>) {
    const run = await admin(["doctor", "--json"], { env });
    return found(run.code, (JSON.parse(run.stdout) as { checks: Finding[] }).checks);
  }

  async function examine(env: Record<string, string> = {}) {
    const before = childEnvironment();
    provideSettings(env);
    try {
      const { exitCode, json } = await adminLine("doctor");
      return found(exitCode, json.checks as Finding[]);
    } finally {
      for (const name of Object.keys(process.env)) if (before[name] === undefined) delete process.env[name];
      provideSettings(before);
    }
  }

  test("finds no failures in a healthy installation, and gives advice about everything that is not ok", async () => {
    const { code, of, all } = await examineOutside({ PORT: String(await freePort()) });
    expect(code).toBe(0);
    for (const check of [
      "settings",
      "origin",
      "database",
      "migrations",
      "clock",
      "data directory",
      "git",
      "large files",
      "outbound",
      "service",
    ]) {
      expect(of(check), check).toMatchObject({ status: "ok" });
    }
    for (const finding of all) if (finding.status !== "ok") expect(finding.advice).toBeTruthy();
  });

  test("names the invalid setting", async () => {
    const { code, of } = await examineOutside({ PORT: "none" });
    expect(code).toBe(1);
    expect(of("settings")).toMatchObject({ status: "fail", found: expect.stringContaining("PORT") });
  });

  test("reports an unreachable database, and still checks everything else", async () => {
    const { code, of } = await examineOutside({ DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" });
    expect(code).toBe(1);
    expect(of("database")).toMatchObject({ status: "fail", advice: expect.stringContaining("DATABASE_URL") });
    expect(of("mail")).toBeDefined();
  });

  test("recognizes a pooler, and names the settings that a pooler requires", async () => {
    const { DATABASE_URL, DATABASE_OWNER_URL } = settings();
    const pooler = await startPooler(DATABASE_URL ?? "");
    const through = { DATABASE_URL: pooler.url, DATABASE_OWNER_URL: DATABASE_OWNER_URL ?? "" };
    const withoutDirect = await examineOutside({ DATABASE_URL: pooler.url, DATABASE_OWNER_URL: "" });
    const withDirect = await examineOutside({ ...through, DATABASE_DIRECT_URL: DATABASE_URL ?? "" });
    await pooler.stop();
    expect(withoutDirect.of("database")).toMatchObject({
      status: "fail",
      found: expect.stringContaining("Set DATABASE_DIRECT_URL"),
    });
    expect(withDirect.of("pooler")).toMatchObject({
      status: "warn",
      advice: expect.stringContaining("statement_timeout = '15s'"),
    });
    expect(withDirect.of("migrations")).toMatchObject({ status: "ok" });
  });

  test("reports a server that does not speak SMTP, with the server's response escaped for the terminal", async () => {
    const server = createServer((socket) => socket.end("go \u001b[2J\u009baway\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const env = { SMTP_URL: `smtp://127.0.0.1:${port}` };
    const { code, of } = await examineOutside(env);
    const { stdout } = await admin(["doctor"], { env });
    server.close();
    expect(code).toBe(1);
    expect(of("mail")).toMatchObject({ status: "fail", advice: expect.stringContaining("SMTP_URL") });
    expect(of("mail")?.found).toContain("go \u001b[2J");
    expect(stdout).toContain("go \\u001b[2J");
    expect(stdout).not.toMatch(/[^\n\P{Cc}]/u);
  });

  test("checks the bucket of large files", async () => {
    const bucket = await startBucket();
    const { LFS_S3_BUCKET = "", LFS_S3_ACCESS_KEY_ID = "", LFS_S3_SECRET_ACCESS_KEY = "" } = settings();
    const bucketSettings = { LFS_STORAGE: "s3", LFS_S3_ENDPOINT: bucket.origin, LFS_S3_BUCKET, LFS_S3_ACCESS_KEY_ID };
    const right = await examine({ ...bucketSettings, LFS_S3_SECRET_ACCESS_KEY });
    const wrong = await examine({ ...bucketSettings, LFS_S3_SECRET_ACCESS_KEY: "another key" });
    await bucket.stop();
    expect(right.of("large files")).toMatchObject({ status: "ok", found: expect.stringContaining(LFS_S3_BUCKET) });
    expect(wrong.of("large files")).toMatchObject({ status: "fail", advice: expect.stringContaining("LFS_S3") });
  });

  test("reports a TRUST_PROXY that trusts every address (S110), plain http, and an allow list that allows every address (S119)", async () => {
    const { of } = await examine({ ORIGIN: "http://id.example.com", TRUST_PROXY: "0.0.0.0/0", OUTBOUND_ALLOW_CIDRS: "::/0" });
    expect(of("origin")).toMatchObject({ status: "warn" });
    expect(of("proxy")).toMatchObject({ status: "fail" });
    expect(of("outbound")).toMatchObject({ status: "fail" });
  });

  test("S110 reports that requests come through a proxy that TRUST_PROXY does not name", async () => {
    const note = { key: "untrusted_proxy_near", value: { address: "172.18.0.1" }, updatedAt: new Date() };
    await db().setting.create({ data: note });
    const [without, named] = [await examine(), await examine({ TRUST_PROXY: "172.18.0.0/16" })];
    await db().setting.delete({ where: { key: note.key } });
    expect(without.code).toBe(1);
    expect(without.of("proxy")).toMatchObject({ status: "fail", advice: expect.stringContaining("172.18.0.1 to TRUST_PROXY") });
    expect(named.of("proxy")).toMatchObject({ status: "ok" });
  });

  test("reports secrets that other users of the machine can read", async () => {
    const directory = mkdtempSync(join(tmpdir(), "keyhook-doctor-"));
    chmodSync(directory, 0o755);
    writeFileSync(join(directory, "secret-key"), "x", { mode: 0o644 });
    const { code, of } = await examine({ DATA_DIR: directory });
    rmSync(directory, { recursive: true });
    expect(code).toBe(1);
    expect(of("data directory")).toMatchObject({ status: "fail", advice: expect.stringContaining("chmod 600") });
  });

  test("reports that SECRET_KEY does not decrypt the signing keys", async () => {
    await adminLine("keys", "rotate");
    const { code, of } = await examine({ SECRET_KEY: "another key, of the same length as the first one" });
    expect(code).toBe(1);
    expect(of("signing keys")).toMatchObject({ status: "fail", advice: expect.stringContaining("SECRET_KEY") });
  });
});

test("the command creates the embedded database if the service was never started, and two commands at once do not conflict", {
  timeout: 60_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-admin-"));
  chmodSync(directory, 0o711);
  const env = { DATA_DIR: directory, DATABASE_URL: "", SECRET_KEY: "" };
  const runs = await Promise.all(["first", "second"].map((name) => admin([...someone(name), "--json"], { env })));
  expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
    { code: 0, stderr: "" },
    { code: 0, stderr: "" },
  ]);
  const app = [
    "app",
    "create",
    "--owner",
    "first",
    "--name",
    "Kite",
    "--scopes",
    "openid",
    "--redirect-uri",
    "https://kite.example/",
  ];
  expect(await admin(app, { env })).toMatchObject({ code: 0 });
  rmSync(directory, { recursive: true, force: true });
});

test("the operator turns dynamic registration on and off", async () => {
  expect(await adminJson("registration", "show")).toEqual({ is_on: false });
  expect(await adminJson("registration", "on")).toEqual({ is_on: true });
  expect(await adminJson("registration", "show")).toEqual({ is_on: true });
  expect((await adminLine("registration", "off")).text).toContain("may not register themselves");
  expect(await adminJson("registration", "show")).toEqual({ is_on: false });
});

test("a resource server is added, gets a new secret, and is removed", async () => {
  const url = "https://mcp.example.com/mcp";
  const made = await adminJson("resource", "add", "--url", url, "--name", "Team tools", "--scopes", "openid email");
  expect(made).toEqual({ resource: url, client_id: expect.any(String), client_secret: expect.stringMatching(/^kh_secret_/) });
  expect(await adminJson("resource", "list")).toEqual({
    resources: [{ resource: url, name: "Team tools", scopes: "openid email", client_id: made.client_id }],
  });
  const rotated = await adminJson("resource", "rotate", "--url", url);
  expect(rotated.client_id).toBe(made.client_id);
  const secrets = await db().oAuthAppSecret.findMany({ where: { app: { clientId: made.client_id } } });
  expect(secrets.map(({ secretHash }) => secretHash)).toEqual([hashToken(rotated.client_secret as string)]);

  const refused = await adminLine("resource", "add", "--url", "http://mcp.example.com", "--name", "Team tools");
  expect(refused).toMatchObject({ exitCode: 2, text: expect.stringMatching(/^--url: /) });
  await adminJson("resource", "remove", "--url", url);
  expect((await adminLine("resource", "list")).text).toBe("No services are registered.");
});
