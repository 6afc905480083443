import { displayText, plainText } from "../../accounts/plain-text.ts";
import { hashToken } from "../../crypto/token.ts";
import { db, pool } from "../../db.ts";
import { env } from "../../env.ts";
import { invalidRequest, notFound, ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";
import { batched } from "../../postgres/batched.ts";

export const PLATFORM_NAME_MAX_CHARACTERS = 60;
export const PLATFORM_SOURCE_MAX_CHARACTERS = 200;
export const PLATFORMS_MAX = 100;
export const TOKEN_OVERLAP_HOURS = 24;

export type Platform = { id: string; name: string; source: string };

/** The token was found in a cache. Check it again before using anything that the platform sends. */
export type PresentedPlatform = Platform & { tokenHash: string };

export const platformTokenPrefix = (): string => `${env().TOKEN_PREFIX}platform_`;

export function parsePlatformName(value: unknown): string {
  return displayText("name", value, { maxCharacters: PLATFORM_NAME_MAX_CHARACTERS });
}

export function parseSource(value: unknown): string {
  const source = plainText("source", value, PLATFORM_SOURCE_MAX_CHARACTERS).trim();
  const isUri = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(source) && URL.canParse(source) && !/[?#]/.test(source);
  if (!isUri) throw invalidRequest("Enter an absolute URL, such as https://git.example.com.", "source");
  return source;
}

/** `https://git.example` does not allow `https://git.example.org`. */
export function isSourceOf(prefix: string, source: string): boolean {
  if (!source.startsWith(prefix)) return false;
  return source.length === prefix.length || /[/:]$/.test(prefix) || "/:?#".includes(source.charAt(prefix.length));
}

const LAST_USED_RESOLUTION_SECONDS = 60;

export async function findPlatform(token: string): Promise<Platform | undefined> {
  if (!token.startsWith(platformTokenPrefix())) return undefined;
  const found = await findByHash(hashToken(token));
  if (!found) return undefined;
  const { id, name, source, isUsedLongAgo } = found;
  if (isUsedLongAgo) await noteUsed(id);
  return { id, name, source };
}

/** Each use checks a cached token again, so a revoked one is refused at once. */
const PRESENTED_MS = 30_000;
const PRESENTED_MAX = 1_000;
const presented = new Map<string, { platform: PresentedPlatform; until: number }>();

/** The caller must check the token again. */
export async function findPresented(token: string): Promise<PresentedPlatform | undefined> {
  const tokenHash = hashToken(token);
  const known = presented.get(tokenHash);
  if (known && known.until > performance.now()) return known.platform;
  presented.delete(tokenHash);
  const found = await findPlatform(token);
  if (!found) return undefined;
  const platform = { ...found, tokenHash };
  presented.set(tokenHash, { platform, until: performance.now() + PRESENTED_MS });
  const [oldest] = presented.keys();
  if (presented.size > PRESENTED_MAX && oldest !== undefined) presented.delete(oldest);
  return platform;
}

export async function requireValidToken({ tokenHash }: PresentedPlatform): Promise<void> {
  if (!(await findByHash(tokenHash))) throw refusedToken(tokenHash);
}

export function refusedToken(tokenHash: string): ServiceError {
  presented.delete(tokenHash);
  return new ServiceError("unauthorized", "Invalid credentials in Authorization header");
}

type Row = Platform & { hash: string; isUsedLongAgo: boolean };

const TOKENS_PER_LOOKUP = 100;
const LOOKUPS_AT_ONCE = 2;

const findByHash = batched<string, Row | undefined>(
  async (hashes) => {
    const { rows } = await pool().query<Row>({
      name: "find-platforms",
      text: `SELECT hash, id, name, source, (last_used_at IS NULL OR last_used_at < now() - make_interval(secs => $2)) AS "isUsedLongAgo"
             FROM unnest($1::text[]) AS t(hash)
             JOIN platform ON token_hash = hash OR (previous_token_hash = hash AND previous_expires_at > now())
            WHERE revoked_at IS NULL`,
      values: [[...new Set(hashes)], LAST_USED_RESOLUTION_SECONDS],
    });
    const byHash = new Map(rows.map((row) => [row.hash, row]));
    return hashes.map((hash) => byHash.get(hash));
  },
  TOKENS_PER_LOOKUP,
  LOOKUPS_AT_ONCE,
);

async function noteUsed(id: string): Promise<void> {
  await pool().query(
    `UPDATE platform SET last_used_at = now()
      WHERE id = (SELECT id FROM platform WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED)`,
    [id],
  );
}

export async function findLivePlatform(idOrName: string): Promise<Platform> {
  const isStorable = idOrName.isWellFormed() && !idOrName.includes("\0");
  const platform =
    isStorable &&
    (await db().platform.findFirst({
      where: { revokedAt: null, ...(isId(idOrName) ? { id: idOrName } : { name: idOrName }) },
      select: { id: true, name: true, source: true },
    }));
  if (!platform) throw notFound("Platform");
  return platform;
}
