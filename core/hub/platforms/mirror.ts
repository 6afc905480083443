import { type RepoType, repoTypes } from "@keyhook/sdk";
import { z } from "zod";
import type { Sql } from "../../db.ts";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { newId } from "../../ids.ts";
import { isRefName } from "../git/refs/ref-name.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { readRepos } from "../repos/read-repos.ts";
import { parseRepoName, type Repo } from "../repos/repo.ts";
import { DESCRIPTION_MAX_CHARACTERS } from "../repos/repo-settings.ts";
import type { Platform } from "./platform.ts";

export type Mirrored = Repo & { platformId: string; externalId: string };

export type NamedOwner = Repo["owner"];

export const WAITING_MAX = 100;

/** `lockPlatform` holds a database connection while it waits, so calls of this process wait here. */
export const inOrder = <T>({ id }: Platform, work: () => Promise<T>): Promise<T> =>
  oneAtATime(`platform ${id}`, work, WAITING_MAX);

export type Locked = Map<string, string[]>;

const tokensOf = (rows: { id: string; tokens: string[] }[]): Locked => new Map(rows.map(({ id, tokens }) => [id, tokens]));
const TOKENS = Prisma.sql`CASE WHEN previous_expires_at > now() THEN ARRAY[token_hash, previous_token_hash] ELSE ARRAY[token_hash] END AS tokens`;

/** @throws ServiceError `unauthorized` if the platform was revoked meanwhile */
export async function lockPlatform(tx: Sql, [id = ""]: readonly string[]): Promise<Locked> {
  const live = await tx.$queryRaw<{ id: string; tokens: string[] }[]>`
    SELECT id, ${TOKENS} FROM platform WHERE id = ${id} AND revoked_at IS NULL FOR NO KEY UPDATE`;
  if (live.length === 0) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
  return tokensOf(live);
}

/**
 * Skips revoked and locked platforms. Later locks may take at most 200 ms, because events of all platforms wait for this
 * transaction.
 */
export async function lockFreePlatforms(tx: Sql, ids: readonly string[]): Promise<Locked> {
  const free = await tx.$queryRaw<{ id: string; tokens: string[] }[]>`
    SELECT id, ${TOKENS}, set_config('lock_timeout', '200ms', true) FROM platform
     WHERE id = ANY(${ids}) AND revoked_at IS NULL FOR NO KEY UPDATE SKIP LOCKED`;
  return tokensOf(free);
}

export const readMirrored = (tx: Sql, where: Prisma.Sql): Promise<Mirrored[]> =>
  readRepos(Prisma.sql`r.platform_id IS NOT NULL AND ${where}`, { tx }) as Promise<Mirrored[]>;

/** Locks the owners until the transaction ends. Omits disabled users. */
export async function readOwners(tx: Sql, handles: Iterable<string>): Promise<Map<string, NamedOwner>> {
  const wanted = [...new Set(handles)].filter((handle) => !handle.includes("\0") && handle.isWellFormed());
  if (wanted.length === 0) return new Map();
  const rows = await tx.$queryRaw<(NamedOwner & { at: string })[]>`
    SELECT h.handle AS at, CASE WHEN u.id IS NULL THEN 'organization' ELSE 'user' END AS kind,
           coalesce(u.id, o.id) AS id, coalesce(u.username, o.name) AS handle
      FROM handle h
      LEFT JOIN "user" u ON u.id = h.user_id AND u.disabled_at IS NULL
      LEFT JOIN organization o ON o.id = h.org_id
     WHERE h.handle = ANY(${wanted}) AND coalesce(u.id, o.id) IS NOT NULL
       FOR KEY SHARE OF h`;
  return new Map(rows.map(({ at, ...owner }) => [at, owner]));
}

export const repoKey = (ownerId: string, type: RepoType, canonical: string): string => `${ownerId}/${type}/${canonical}`;

export async function rememberNames(
  tx: Sql,
  left: Mirrored[],
  taken: { ownerId: string; type: string; canonical: string }[],
): Promise<void> {
  if (left.length > 0) {
    await tx.$executeRaw`
      INSERT INTO repo_former_name (owner_id, type, name_canonical, repo_id)
      SELECT * FROM unnest(${left.map(({ owner }) => owner.id)}::text[], ${left.map(({ type }) => type)}::text[],
                           ${left.map(({ name }) => name.toLowerCase())}::text[], ${left.map(({ id }) => id)}::text[])
      ON CONFLICT (owner_id, type, name_canonical) DO UPDATE SET repo_id = excluded.repo_id, created_at = now()`;
  }
  if (taken.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM repo_former_name f
     USING unnest(${taken.map(({ ownerId }) => ownerId)}::text[], ${taken.map(({ type }) => type)}::text[],
                  ${taken.map(({ canonical }) => canonical)}::text[]) AS t(owner_id, type, name)
     WHERE f.owner_id = t.owner_id AND f.type = t.type AND f.name_canonical = t.name`;
}

const EXTERNAL_ID_MAX_CHARACTERS = 200;
const URL_MAX_CHARACTERS = 2_000;

export const externalIdSchema = z
  .union([z.string(), z.int()])
  .transform(String)
  .pipe(z.string().min(1).max(EXTERNAL_ID_MAX_CHARACTERS));

export const fullNameSchema = z
  .string()
  .max(300)
  .regex(/^[^/]+\/[^/]+$/, "use owner/name");

export const describedRepoSchema = z.object({
  type: z.enum(repoTypes).default("model"),
  name: fullNameSchema,
  /** Stays the same when the repository is renamed. */
  id: externalIdSchema,
  private: z.boolean(),
  url: z.url({ protocol: /^https?$/ }).max(URL_MAX_CHARACTERS),
  description: z.string().max(DESCRIPTION_MAX_CHARACTERS).nullish(),
  tags: z.array(z.string().min(1).max(100)).max(100).optional(),
  defaultBranch: z.string().refine(isRefName, "is not the name of a branch").optional(),
  headSha: z
    .string()
    .regex(/^[0-9a-f]{40}$/, "must be 40 hex digits")
    .nullish(),
});

export type DescribedRepo = z.infer<typeof describedRepoSchema>;

/**
 * Omits repositories whose name or ID is taken.
 * @returns the number of inserted repositories
 */
export function insertRepos(
  tx: Sql,
  platform: Platform,
  repos: { owner: NamedOwner; described: DescribedRepo }[],
): Promise<number> {
  const rows = repos.map(({ owner, described }) => ({
    id: newId(),
    type: described.type,
    owner_id: owner.id,
    owner_kind: owner.kind,
    name: splitName(described.name).spelled,
    is_private: described.private,
    description: described.description ?? null,
    tags: described.tags ?? [],
    head_sha: described.headSha ?? null,
    default_branch: described.defaultBranch ?? "main",
    external_id: described.id,
    external_url: described.url,
  }));
  // The discussions are on the platform.
  return tx.$executeRaw`
    INSERT INTO repo (id, type, owner_id, owner_kind, name, name_canonical, is_private, description, tags, head_sha, default_branch,
      external_id, external_url, platform_id, has_discussions)
    SELECT id, type, owner_id, owner_kind, name, lower(name), is_private, description, tags, head_sha, default_branch,
      external_id, external_url, ${platform.id}, false
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS n(id text, type text, owner_id text, owner_kind text, name text,
        is_private boolean, description text, tags text[], head_sha text, default_branch text, external_id text, external_url text)
    ON CONFLICT DO NOTHING`;
}

export function splitName(fullName: string): { handle: string; spelled: string; canonical: string } {
  const [handle = "", name = ""] = fullName.split("/");
  return { handle: handle.toLowerCase(), ...parseRepoName(name) };
}

export function refusalOf({ issues: [issue] }: z.ZodError, prefix = ""): ServiceError {
  const field = [prefix, ...(issue?.path ?? [])].filter((part) => part !== "").join(".");
  return invalidRequest(`${field || "The body"}: ${issue?.message ?? "not understood"}.`, field);
}

const DEPTH_MAX = 20;

/**
 * PostgreSQL cannot store NUL or half a surrogate pair (S51). Does not recurse, because the sender chooses the depth.
 * @returns a sentence with the path, such as `discussion.title`, or undefined
 */
export function unstorable(value: unknown): string | undefined {
  const open: { value: unknown; path: string; depth: number }[] = [{ value, path: "", depth: 0 }];
  for (let at = open.pop(); at; at = open.pop()) {
    if (typeof at.value === "string" && !isStorable(at.value)) return `${at.path}: contains characters that are not valid text.`;
    if (typeof at.value !== "object" || at.value === null) continue;
    if (at.depth >= DEPTH_MAX) return `${at.path}: is nested too deeply.`;
    for (const [key, inner] of Object.entries(at.value)) {
      if (!isStorable(key)) return `${at.path}: has a name that is not valid text.`;
      open.push({ value: inner, path: at.path ? `${at.path}.${key}` : key, depth: at.depth + 1 });
    }
  }
  return undefined;
}

const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
