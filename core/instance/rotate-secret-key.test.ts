import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobSpecSchema } from "@keyhook/sdk";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { adminLine } from "../../scripts/admin/testing/admin-line.ts";
import { knownDevice, rememberDevice } from "../accounts/known-device.ts";
import { recoveryCodeHashes } from "../accounts/second-step/recovery-codes.ts";
import { signedInPerson } from "../accounts/testing/people.ts";
import { keyIds, seal, unseal } from "../crypto/seal.ts";
import { db, pool } from "../db.ts";
import { provideSettings, secretKey } from "../env.ts";
import { readTransfer, signTransfer } from "../hub/lfs/transfer/transfer-authorization.ts";
import { newId } from "../ids.ts";
import { createRun } from "../jobs/runs/request-run.ts";
import { unsealJobSecrets } from "../jobs/secrets.ts";
import { loadSigningKeys } from "../oauth/signing-keys.ts";
import { webhookTo } from "../webhooks/testing/deliveries.ts";
import { embeddedSettings } from "./data-dir.ts";
import { countUnderPreviousKey, rotateSecretKey, sealedColumns } from "./rotate-secret-key.ts";

const OLD = "the key in use before the rotation, for tests";
const NEW = "the key in use after the rotation, for tests";
const keys = (current: string, previous = "") => void provideSettings({ SECRET_KEY: current, SECRET_KEY_PREVIOUS: previous });

const usual = secretKey();
beforeAll(async () => void (await db().signingKey.deleteMany()));
beforeEach(() => keys(OLD));
afterEach(async () => {
  await pool().query("delete from process_heartbeat");
  keys(usual);
});

describe("S130 the columns with sealed values", () => {
  const others = [
    "attempt.response_body",
    "audit_seal.content_hash",
    "audit_seal.hash",
    "audit_seal.previous_hash",
    "image.bytes",
    "passkey.public_key",
    "relay_request.answer_body",
    "relay_request.body",
    "xet_file.terms",
    "xet_xorb.chunks",
  ];

  it("are all known to a rotation", async () => {
    const { rows } = await pool().query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
        where table_schema = current_schema() and data_type = 'bytea' and table_name !~ '^attempt_'`,
    );
    const sealed = Object.values(sealedColumns).flatMap((columns) => columns.map(({ table, column }) => `${table}.${column}`));
    expect(
      rows
        .map(({ name }) => name)
        .filter((name) => !others.includes(name))
        .sort(),
    ).toEqual(sealed.sort());
  });
});

describe("S130 a new SECRET_KEY", () => {
  it("re-encrypts the values that the previous key encrypted, so that the previous key is no longer needed", async () => {
    const ada = await signedInPerson();
    const webhookId = await webhookTo({ url: "http://127.0.0.1:9/", ownerId: ada.id, secret: "the webhook's secret" });
    const owner = { kind: "user", id: ada.id } as const;
    const of = { owner, createdById: ada.id, delegationId: null, initiator: { type: "user", id: ada.id } } as const;
    const secrets = { TOKEN: "the job's secret" };
    const runId = await createRun(db(), { ...of, spec: jobSpecSchema.parse({ command: ["true"] }), secrets });
    await db().totp.create({ data: { userId: ada.id, sealedSecret: seal("totp", "its secret"), confirmedAt: new Date() } });
    const codes = await recoveryCodesOf(ada.id, "7k2mq-x9d4t");
    const device = await rememberDevice(ada.id, undefined);
    const transfer = { operation: "download", oid: "a".repeat(64), size: 1, repoId: newId() } as const;
    const url = signTransfer(transfer as never);

    keys(NEW, OLD);
    expect(await countUnderPreviousKey()).toBeGreaterThanOrEqual(4);
    const read = async () => {
      const { secret } = await db().webhook.findUniqueOrThrow({ where: { id: webhookId } });
      const run = await db().jobRun.findUniqueOrThrow({ where: { id: runId } });
      const { sealedSecret } = await db().totp.findUniqueOrThrow({ where: { userId: ada.id } });
      return {
        webhook: unseal("webhook secret", secret as Uint8Array),
        job: unsealJobSecrets(run.secrets),
        totp: unseal("totp", sealedSecret),
        code: (await recoveryCodeHashes(db(), ada.id, "7K2MQ X9D4T")).some((hash) => codes.includes(hash)),
      };
    };
    const whole = { webhook: "the webhook's secret", job: secrets, totp: "its secret", code: true };
    expect(await read()).toEqual(whole);
    expect(readTransfer(url, transfer)).toMatchObject(transfer);
    const { passwordHash } = await db().user.findUniqueOrThrow({ where: { id: ada.id } });
    expect(knownDevice({ id: ada.id, passwordHash }, device)).toBeDefined();

    const { resealed } = await rotateSecretKey();
    expect(resealed).toMatchObject({ "webhook secret": expect.any(Number), "job secrets": expect.any(Number) });
    expect(await countUnderPreviousKey()).toBe(0);
    keys(NEW);
    expect(await read()).toEqual(whole);
    expect(() => readTransfer(url, transfer)).toThrow("This URL is not valid.");
    expect(
      await db().auditEvent.count({
        where: { type: "secret_key.rotate", data: { path: ["keyId"], equals: keyIds()[0] as string } },
      }),
    ).toBe(1);

    keys(NEW, OLD);
    expect((await rotateSecretKey()).resealed).toEqual({});
  });

  it("keeps signing keys and values that change during the rotation", async () => {
    const kids = (await loadSigningKeys()).map(({ kid }) => kid);
    const id = await webhookTo({ url: "http://127.0.0.1:9/", secret: "the first" });
    keys(NEW, OLD);
    const change = async () => {
      for (let n = 0; n < 20; n++)
        await db().webhook.update({ where: { id }, data: { secret: seal("webhook secret", `number ${n}`) } });
    };
    await Promise.all([change(), rotateSecretKey()]);
    await rotateSecretKey();
    keys(NEW);
    const { secret } = await db().webhook.findUniqueOrThrow({ where: { id } });
    expect(unseal("webhook secret", secret as Uint8Array)).toBe("number 19");
    expect((await loadSigningKeys()).map(({ kid }) => kid)).toEqual(kids);
  });

  it("is refused without a previous key, or until every process encrypts with the new key", async () => {
    const beat = (keyIds: string[]) =>
      db().processHeartbeat.create({ data: { id: newId(), kind: "worker", host: "quay", pid: 4711, version: "1", keyIds } });
    const refused = (reason: string) =>
      expect(rotateSecretKey()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining(reason) });
    const old = keyIds();
    keys(NEW, OLD);
    for (const known of [old, [], keyIds().reverse()]) {
      await beat(known);
      await refused("worker on quay (process 4711)");
      await db().processHeartbeat.deleteMany();
    }
    await beat(keyIds());
    await expect(rotateSecretKey()).resolves.toBeDefined();
    keys(NEW);
    await refused("There is no previous key");
    keys(NEW, NEW);
    await refused("SECRET_KEY_PREVIOUS is the same");
  });

  it("is refused if it is set as SECRET_KEY_PREVIOUS by mistake, because recovery codes would be lost", async () => {
    const ada = await signedInPerson();
    const codes = await recoveryCodesOf(ada.id, "7k2mq-x9d4t");
    const works = async () => (await recoveryCodeHashes(db(), ada.id, "7K2MQ X9D4T")).some((hash) => codes.includes(hash));
    await db().totp.create({ data: { userId: ada.id, sealedSecret: seal("totp", "its secret"), confirmedAt: new Date() } });
    keys(OLD, `${NEW}, and not this one`);
    await expect(rotateSecretKey()).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("Swap the two"),
    });
    expect(await works()).toBe(true);
    keys(NEW, OLD);
    await rotateSecretKey();
    expect(await works()).toBe(true);
  });

  it("replaces a generated key in its file and keeps the old key in a second file", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "keyhook-"));
    const urls = { url: "postgres://localhost/a", ownerUrl: "postgres://localhost/a" };
    const settings = () => {
      const { SECRET_KEY, SECRET_KEY_PREVIOUS = "" } = embeddedSettings(DATA_DIR, urls as never);
      return [SECRET_KEY, SECRET_KEY_PREVIOUS];
    };
    delete process.env.SECRET_KEY;
    delete process.env.SECRET_KEY_PREVIOUS;
    provideSettings({ DATA_DIR });
    const [first = ""] = settings();
    keys(first);
    expect(await adminLine("secrets", "rotate")).toMatchObject({ exitCode: 0, json: { key: "replaced" } });
    delete process.env.SECRET_KEY;
    delete process.env.SECRET_KEY_PREVIOUS;
    provideSettings({});
    const [second = "", previous] = settings();
    expect([second === first, previous]).toEqual([false, first]);
    for (const file of ["secret-key", "secret-key.previous"]) expect(statSync(join(DATA_DIR, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(DATA_DIR, "secret-key"), "utf8").trim()).toBe(second);
    keys(second, first);
    expect(await adminLine("secrets", "rotate")).toMatchObject({ exitCode: 0, json: { key: "rotated" } });
  });
});

async function recoveryCodesOf(userId: string, code: string): Promise<string[]> {
  const hashes = await recoveryCodeHashes(db(), userId, code);
  await db().recoveryCode.createMany({ data: hashes.map((codeHash) => ({ id: newId(), userId, codeHash })) });
  return hashes;
}
