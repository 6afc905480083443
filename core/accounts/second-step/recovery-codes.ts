import { createHmac, randomBytes, randomInt } from "node:crypto";
import { hashRaw } from "@node-rs/argon2";
import type { Person } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { derivedKeys, seal, unseal } from "#core/crypto/seal.ts";
import type { Db } from "#core/db.ts";
import { conflict } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { changeSecondStep } from "./change-second-step.ts";
import { hasSecondStep } from "./find-second-step.ts";

const MAKE_LIMIT = { limit: 10, windowSeconds: 60 * 60 };

/** The codes can be read only now, because only hashes are stored. */
export async function makeRecoveryCodes(actor: Person, from: RequestOrigin): Promise<string[]> {
  const { userId } = actor;
  await requirePermission(actor, "second_step.manage", { userId }, { what: "User" });
  await consumeThrottle(throttleKey("recovery-codes", userId), MAKE_LIMIT);
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  const salt = randomBytes(SALT_BYTES);
  const sealedSalt = seal("recovery codes", salt.toString("base64"));
  const hashes = await Promise.all(codes.map((code) => hashRecoveryCode(code, salt)));
  const message = "New recovery codes were created. Your previous ones no longer work.";
  await changeSecondStep(actor, { message, from }, async (tx, record) => {
    if (!(await hasSecondStep(userId, tx))) throw conflict("Set up a passkey or an authenticator app first.");
    await tx.recoveryCode.deleteMany({ where: { userId } });
    await tx.recoveryCode.createMany({ data: hashes.map((codeHash) => ({ id: newId(), userId, codeHash, sealedSalt })) });
    await record({ type: "recovery_code.create" });
  });
  return codes;
}

const RECOVERY_CODES = 10;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const CODE_CHARACTERS = 10;

function newRecoveryCode(): string {
  const code = Array.from({ length: CODE_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${code.slice(0, 5)}-${code.slice(5)}`;
}

const SALT_BYTES = 16;

/** A search can find 50 bits, so codes are hashed like passwords (ASVS 6.5.2). A user's codes share an encrypted salt (S130). */
export async function recoveryCodeHashes(tx: Db, userId: string, code: string): Promise<string[]> {
  const row = await tx.recoveryCode.findFirst({ where: { userId }, select: { sealedSalt: true } });
  const salts = row?.sealedSalt
    ? [Buffer.from(unseal("recovery codes", row.sealedSalt), "base64")]
    : derivedKeys("recovery-codes").map((key) => deriveSalt(key, userId));
  return Promise.all(salts.map((salt) => hashRecoveryCode(code, salt)));
}

/** The salt for codes that have no stored one. A rotation of SECRET_KEY stores the salt. */
export function deriveSalt(key: Buffer, userId: string): Buffer {
  return createHmac("sha256", key).update(userId).digest().subarray(0, SALT_BYTES);
}

async function hashRecoveryCode(code: string, salt: Buffer): Promise<string> {
  const hash = await hashRaw(normalizedCode(code), { memoryCost: 19_456, timeCost: 2, parallelism: 1, salt });
  return hash.toString("base64url");
}

function normalizedCode(code: string): string {
  return code.slice(0, 100).toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1").replaceAll("u", "v");
}
