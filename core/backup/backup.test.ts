import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { generate } from "selfsigned";
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from "vitest";
import { from, signedInPerson, type TestPerson } from "../accounts/testing/people.ts";
import { findPersonalAccessToken } from "../accounts/tokens/find-personal-access-token.ts";
import { createPersonalAccessToken } from "../accounts/tokens/personal-access-tokens.ts";
import { sealAuditEvents } from "../audit/chain/seal-audit-events.ts";
import { unseal } from "../crypto/seal.ts";
import { closeConnections, db, pool, withDirectConnection } from "../db.ts";
import { env, provideSettings } from "../env.ts";
import { areDeletionsHeld, holdDeletions, REMOVAL_LOCK } from "../housekeeping/hold-deletions.ts";
import { type DueMaintenance, maintainRepository, maintenanceTable } from "../hub/git/maintenance/maintain-repository.ts";
import { removeDeletedRepositories } from "../hub/git/maintenance/remove-files.ts";
import { repositoryPath } from "../hub/git/repository.ts";
import { runGit } from "../hub/git/run-git.ts";
import { createBranch } from "../hub/git/write/branches-and-tags.ts";
import { recordLfsObject } from "../hub/lfs/objects/record-lfs-object.ts";
import { lfsStorage } from "../hub/lfs/storage/storages.ts";
import { sweepLfsLeftovers } from "../hub/lfs/sweep-lfs-leftovers.ts";
import { startBucket } from "../hub/lfs/testing/start-bucket.ts";
import type { Repo } from "../hub/repos/repo.ts";
import { commitTo, fsck, someRepo } from "../hub/testing/repos.ts";
import { newId } from "../ids.ts";
import { readLastBackup } from "../operations/last-backup.ts";
import { claimRows } from "../postgres/leased-table.ts";
import { asService, dropDatabase, recreateDatabase } from "../testing/database.ts";
import { SECRET_KEY } from "../testing/secret-key.ts";
import { queueDeliveries, webhookTo } from "../webhooks/testing/deliveries.ts";
import { createBackup } from "./create-backup.ts";
import { listBackups } from "./manifest.ts";
import { openPlace } from "./place.ts";
import { listSnapshots, saveStream } from "./restic.ts";
import { restoreBackup } from "./restore-backup.ts";
import { verifyBackup } from "./verify-backup.ts";

const LONG = 300_000;
const { DATABASE_URL = "", DATABASE_OWNER_URL = "", DATA_DIR } = env();
const BACKUP_PASSWORD = "a password only for the tests of backups";
const target = `keyhook_restored_${process.pid}`;
const targetUrl = await recreateDatabase(inject("serverUrl"), target);

let place: string;
let ada: TestPerson;
let repo: Repo;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "keyhook-backup-"));
  provideSettings({ BACKUP_PASSWORD });
  ada = await signedInPerson();
  repo = await someRepo(ada);
  await commitTo(repo, ada, { "a.txt": "a" });
});
afterEach(async () => {
  await closeConnections();
  provideSettings({ DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR, SECRET_KEY, BACKUP_PASSWORD });
});
afterAll(async () => {
  await dropDatabase(inject("serverUrl"), target);
  await rm(place, { recursive: true, force: true });
});

async function switchToEmptyInstallation(): Promise<void> {
  await closeConnections();
  await recreateDatabase(inject("serverUrl"), target);
  const directory = await mkdtemp(join(tmpdir(), "keyhook-restored-"));
  provideSettings({ DATABASE_URL: asService(targetUrl), DATABASE_OWNER_URL: targetUrl, DATA_DIR: directory });
}

type Written = { commits: [Repo, string][]; tokens: string[]; deliveries: string[]; files: [string, Buffer][]; audit: string[] };
const nothingYet = (): Written => ({ commits: [], tokens: [], deliveries: [], files: [], audit: [] });

async function writeOnce(written: Written, repos: Repo[], webhookId: string): Promise<void> {
  const repo = repos[written.commits.length % repos.length] as Repo;
  const sha = await commitTo(repo, ada, { [`${written.commits.length}.txt`]: randomBytes(2_000).toString("hex") });
  written.commits.push([repo, sha]);
  const token = { name: "laptop", scopes: ["read-repos"], expiresInDays: 1 };
  written.tokens.push((await createPersonalAccessToken(ada.actor, ada.id, token, from)).token);
  written.deliveries.push(...(await queueDeliveries(webhookId)));
  written.audit.push((await db().auditEvent.findFirstOrThrow({ orderBy: { id: "desc" } })).id);
  const content = randomBytes(20_000);
  const oid = createHash("sha256").update(content).digest("hex");
  const location = lfsStorage().newLocation(repo.id, oid);
  const received = await lfsStorage().receive(location, { oid, size: content.length }, [
    content,
  ] as unknown as AsyncIterable<Buffer>);
  await recordLfsObject(repo.id, { oid, size: content.length }, location, { keep: received.keep, holdId: newId() });
  written.files.push([oid, content]);
}

async function maintainAll(repos: readonly Repo[]): Promise<void> {
  for (const { id } of repos) {
    const longAgo = new Date(Date.now() - 30 * 24 * 3600_000);
    await utimes(join(repositoryPath(id), "config"), longAgo, longAgo);
    await rm(join(repositoryPath(id), "keyhook-collected"), { force: true });
  }
  await db().repoMaintenance.updateMany({ data: { dueAt: new Date(0) } });
  const { rows, claimId } = await claimRows<DueMaintenance>(maintenanceTable, 10);
  for (const row of rows) await maintainRepository(row, claimId);
  await sealAuditEvents({ isWaiting: true });
}

test("a restored backup contains everything that was confirmed before the backup started", {
  timeout: LONG,
}, async () => {
  const webhookId = await webhookTo({ url: "https://receiver.example.test", secret: "the webhook's secret", ownerId: ada.id });
  const repos = [repo, await someRepo(ada), await someRepo(ada)];
  const gone = await someRepo(ada);
  await commitTo(gone, ada, { "a.txt": "a" });
  const [before, during] = [nothingYet(), nothingYet()];
  for (let each = 0; each < 6; each++) await writeOnce(before, repos, webhookId);
  await maintainAll(repos);

  const backup = createBackup({ to: place });
  const ended = backup.then(
    () => true,
    () => true,
  );
  // Without pauses, the writes would keep the backup from ending, because a backup has a lower priority.
  do {
    await writeOnce(during, repos, webhookId);
    await maintainAll(repos);
  } while (!(await Promise.race([ended, delay(300)])));
  const made = await backup;
  expect(during.commits.length).toBeGreaterThan(0);
  expect(await readLastBackup()).toMatchObject({ place });
  const listed = await verifyBackup({ from: place, isQuick: false });
  expect(listed).toMatchObject({ id: made.id, missingFiles: [], missingRepositories: [], database: { unreadable: 0 } });
  expect(listed.database.secrets).toBeGreaterThan(0);

  await switchToEmptyInstallation();
  expect(await restoreBackup({ from: place })).toMatchObject({ id: made.id, leftOut: [], auditFlaw: undefined });
  for (const token of before.tokens) expect(await findPersonalAccessToken(token)).toMatchObject({ userId: ada.id });
  expect(await db().delivery.count({ where: { id: { in: before.deliveries } } })).toBe(before.deliveries.length);
  expect(await db().auditEvent.count({ where: { id: { in: before.audit } } })).toBe(before.audit.length);
  const { secret } = await db().webhook.findUniqueOrThrow({ where: { id: webhookId } });
  expect(unseal("webhook secret", secret as Uint8Array)).toBe("the webhook's secret");
  for (const [{ id }, sha] of before.commits)
    await runGit(repositoryPath(id), ["merge-base", "--is-ancestor", sha, "refs/heads/main"]);
  for (const each of [...repos, gone]) await fsck(each);
  for (const [oid, content] of before.files) {
    const { location } = await db().lfsObject.findFirstOrThrow({ where: { oid } });
    const pieces = await (await lfsStorage().open(location, content.length)).toArray();
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  }
  await commitTo(repo, ada, { "b.txt": "b" });
  await fsck(repo);
});

test("nothing is deleted while a backup holds deletions, and only one backup runs at a time", { timeout: LONG }, async () => {
  const { signal } = new AbortController();
  const doomed = await someRepo(ada);
  await commitTo(doomed, ada, { "a.txt": "a" });
  await db().repoMaintenance.upsert({ where: { id: doomed.id }, create: { id: doomed.id }, update: {} });
  await db().lfsLeftover.create({ data: { location: `local:${"a".repeat(64)}`, createdAt: new Date(0) } });
  await db().repoRemoval.create({ data: { repoId: doomed.id } });
  const held = await holdDeletions();
  await maintainAll([doomed]);
  expect(await db().repoMaintenance.count({ where: { id: doomed.id, dueAt: { gt: new Date() } } })).toBe(1);
  expect(await removeDeletedRepositories(signal, 0)).toBe(0);
  expect(await sweepLfsLeftovers(signal)).toBe(0);
  await expect(createBackup({ to: place })).rejects.toThrow(/Another backup is running/);
  await held.release();
  expect(await sweepLfsLeftovers(signal)).toBe(1);
  await maintainAll([doomed]);
  expect(await db().repoMaintenance.count({ where: { id: doomed.id } })).toBe(0);
  expect(await removeDeletedRepositories(signal, 0)).toBe(1);
});

test("a backup waits for running maintenance", async () => {
  await db().repoMaintenance.deleteMany();
  await db().repoMaintenance.create({ data: { id: newId(), dueAt: new Date(0) } });
  const { claimId } = await claimRows<DueMaintenance>(maintenanceTable, 1);
  const held = holdDeletions();
  await vi.waitFor(async () => expect(await areDeletionsHeld()).toBe(true));
  const first = await Promise.race([
    held.then(() => "held"),
    pool()
      .query("select pg_sleep(1)")
      .then(() => "waits"),
  ]);
  await db().repoMaintenance.deleteMany({ where: { claimId } });
  await (await held).release();
  expect(first).toBe("waits");
});

test("a backup waits for a running removal of a deleted repository", async () => {
  const ends = Promise.withResolvers<void>();
  const has = Promise.withResolvers<void>();
  const removing = withDirectConnection(async (client) => {
    await client.query(`select pg_advisory_lock(${REMOVAL_LOCK})`);
    has.resolve();
    await ends.promise;
    await client.query(`select pg_advisory_unlock(${REMOVAL_LOCK})`);
  });
  await has.promise;
  const held = holdDeletions();
  const first = await Promise.race([held.then(() => "held"), delay(1_500).then(() => "waits")]);
  ends.resolve();
  await removing;
  await (await held).release();
  expect(first).toBe("waits");
});

test("an interrupted backup is not listed, and the next backup continues it", {
  timeout: LONG,
}, async () => {
  const here = await mkdtemp(join(tmpdir(), "keyhook-backup-"));
  const stopping = new AbortController();
  const report = (step: string) => {
    if (step === "repositories and large files") stopping.abort();
  };
  await expect(createBackup({ to: here, signal: stopping.signal, report })).rejects.toThrow(/was stopped.*continue/);
  expect(await listBackups(openPlace(here))).toEqual([]);
  expect(await listSnapshots(openPlace(here))).not.toEqual([]);
  await expect(verifyBackup({ from: here, isQuick: true })).rejects.toThrow(/no complete backup/);
  // biome-ignore lint/correctness/useYield: it fails before it can yield
  const content = (async function* (): AsyncGenerator<Buffer> {
    throw new Error("the database is gone");
  })();
  const stored = await listSnapshots(openPlace(here));
  await expect(saveStream(openPlace(here), { name: "broken", kind: "database", content })).rejects.toThrow(
    /the database is gone/,
  );
  expect(await listSnapshots(openPlace(here))).toEqual(stored);

  const first = await createBackup({ to: here });
  const second = await createBackup({ to: here, keep: 1 });
  expect(second).toMatchObject({ removed: 1 });
  expect(second.addedBytes).toBeLessThan(first.addedBytes);
  expect((await listBackups(openPlace(here))).map(({ id }) => id)).toEqual([second.id]);
  expect(await listSnapshots(openPlace(here))).toHaveLength(4);
  await verifyBackup({ from: here, isQuick: false });
  await rm(here, { recursive: true });
});

test("S137 a backup names each repository that git cannot read, and no repository can damage a backup", {
  timeout: LONG,
}, async () => {
  const to = await mkdtemp(join(tmpdir(), "keyhook-backup-"));
  const broken = await someRepo(ada);
  await commitTo(broken, ada, { "a.txt": "a" });
  await createBackup({ to });
  const evil = await someRepo(ada);
  const inEvil = (path: string) => join(repositoryPath(evil.id), path);
  const old = await commitTo(evil, ada, { "a.txt": "a" });
  const head = await commitTo(evil, ada, { "a.txt": "b" });
  const branches = ["x\u2028evil", `x\u2029${old}.refs/heads/main`];
  const name = { type: "model", owner: ada.username, name: evil.name } as const;
  for (const branch of branches) await createBranch(ada.actor, name, { branch, startingPoint: "main" });
  // A copy is incomplete if such a file disappears meanwhile.
  const fleeting = ["quarantine/a/objects/pack/b.pack", "objects/pack/c.keep", "packed-refs.new"];
  for (const path of fleeting) {
    await mkdir(dirname(inEvil(path)), { recursive: true });
    await writeFile(inEvil(path), "");
  }
  const packed = join(repositoryPath(broken.id), "packed-refs");
  await writeFile(packed, "not refs\n");
  const made = await createBackup({ to, keep: 1 });
  for (const path of [packed, ...fleeting.map(inEvil)]) await rm(path);
  expect(made.manifest.unread).toEqual([broken.id]);
  expect((await readLastBackup())?.unread).toEqual([broken.id]);
  expect(await listBackups(openPlace(to))).toHaveLength(2);
  expect((await verifyBackup({ from: to, isQuick: true })).missingRepositories).toEqual([broken.id]);
  await switchToEmptyInstallation();
  await restoreBackup({ from: to });
  await fsck(repo);
  const lost = await runGit(repositoryPath(broken.id), ["fsck", "--lost-found"]);
  expect(lost.toString()).toMatch(/^dangling commit /);
  const files = await readdir(repositoryPath(evil.id), { recursive: true });
  expect(fleeting.filter((path) => files.includes(path))).toEqual([]);
  const refs = await runGit(repositoryPath(evil.id), ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)"]);
  expect(refs.toString().trim().split("\n")).toEqual(["main", ...branches].map((branch) => `${head} ${branch}`));
  await rm(to, { recursive: true, force: true });
});

test("S150 wrong keys, a damaged backup and an installation with data are refused with an instruction", {
  timeout: LONG,
}, async () => {
  const here = join(await mkdtemp(join(tmpdir(), "keyhook-backup-")), "new");
  await expect(restoreBackup({ from: here })).rejects.toThrow(/There is no backup at/);
  await createBackup({ to: here });
  await expect(createBackup({ to: join(DATA_DIR, "backup") })).rejects.toThrow(/is in DATA_DIR/);
  await expect(restoreBackup({ from: here })).rejects.toThrow(/is not empty: it contains repositories/);

  provideSettings({ BACKUP_PASSWORD: "" });
  await expect(createBackup({ to: here })).rejects.toThrow(/BACKUP_PASSWORD is not set/);
  provideSettings({ BACKUP_PASSWORD: "another password, which is long enough" });
  await expect(verifyBackup({ from: here, isQuick: true })).rejects.toThrow(/BACKUP_PASSWORD does not open/);
  provideSettings({ BACKUP_PASSWORD, SECRET_KEY: "another key, which is long enough for it" });
  await expect(verifyBackup({ from: here, isQuick: true })).rejects.toThrow(/SECRET_KEY is not the key/);
  await switchToEmptyInstallation();
  await expect(restoreBackup({ from: here })).rejects.toThrow(/SECRET_KEY is not the key/);
  provideSettings({ SECRET_KEY });
  await expect(restoreBackup({ from: here, id: "0".repeat(8) })).rejects.toThrow(/There is no backup 00000000/);
  const { DATA_DIR: empty } = env();
  await mkdir(join(empty, "lfs", "objects"), { recursive: true });
  await expect(restoreBackup({ from: here })).rejects.toThrow(/is not empty: it contains lfs/);
  await rm(join(empty, "lfs"), { recursive: true });

  const packs = (await readdir(join(here, "data"), { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  const contents = new Map<string, Buffer>();
  for (const { parentPath, name } of packs) contents.set(join(parentPath, name), await readFile(join(parentPath, name)));
  for (const [path, content] of contents) {
    await rm(path, { force: true });
    await writeFile(
      path,
      content.map((byte, at) => (at === 40 ? byte ^ 1 : byte)),
    );
  }
  await expect(verifyBackup({ from: here, isQuick: false })).rejects.toThrow(
    /are damaged.*create a new backup in another place/s,
  );
  await expect(restoreBackup({ from: here })).rejects.toThrow(/are damaged/);
  for (const [path, content] of contents) await writeFile(path, content);
  const [largest = ""] = [...contents].sort(([, a], [, b]) => b.length - a.length).map(([path]) => path);
  await rm(largest);
  await expect(verifyBackup({ from: here, isQuick: true })).rejects.toThrow(/are damaged/);
  expect(await access(join(empty, "repositories")).catch(() => "none")).toBe("none");
});

async function withTls(origin: string): Promise<{ origin: string; stop(): void }> {
  const made = await generate([{ name: "commonName", value: "a test" }], {
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
  });
  const server = createServer({ key: made.private, cert: made.cert }, (req, res) => {
    const { method, headers } = req;
    const passed = request(new URL(req.url ?? "", origin), { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    req.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const file = join(place, "certificate.pem");
  await writeFile(file, made.cert);
  vi.stubEnv("SSL_CERT_FILE", file);
  const stop = () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  };
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, stop };
}

test("a backup is stored in a bucket, and restored from it", { timeout: LONG }, async () => {
  const bucket = await startBucket();
  const { LFS_S3_BUCKET } = env();
  const tls = await withTls(bucket.origin);
  const key = { BACKUP_S3_ACCESS_KEY_ID: "S3RVER", BACKUP_S3_SECRET_ACCESS_KEY: "S3RVER" };
  provideSettings({ LFS_STORAGE: "local", BACKUP_S3_ENDPOINT: tls.origin, ...key, DATABASE_OWNER_URL: "" });
  try {
    const there = `s3://${LFS_S3_BUCKET}/backups`;
    const { id } = await createBackup({ to: there });
    await verifyBackup({ from: there, isQuick: false });
    await switchToEmptyInstallation();
    expect(await restoreBackup({ from: there })).toMatchObject({ id });
    await fsck(repo);
    provideSettings({ BACKUP_S3_SECRET_ACCESS_KEY: "wrong" });
    await expect(verifyBackup({ from: there, isQuick: true })).rejects.toThrow(/refuses access/);
  } finally {
    tls.stop();
    await bucket.stop();
  }
});
