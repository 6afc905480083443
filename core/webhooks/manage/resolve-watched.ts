import { repoTypes, type WatchedItemInput, type WatchType } from "@keyhook/sdk";
import type { Actor } from "../../access/actor.ts";
import { readableOwners, readableWhere } from "../../access/readable-owners.ts";
import type { Db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";
import { webhookReads } from "../watchers.ts";
import { parseWatched } from "./parse-webhook.ts";
import type { WatchedItem, WebhookOwner } from "./webhook.ts";

type ResolvedItem = { type: WatchType; watchedId: string };

/**
 * An item whose name is no longer shown is accepted by ID, so that a client can send a list back as it was read. The error does
 * not show whether the item exists (S136).
 */
export async function resolveWatched(
  tx: Db,
  actor: Actor,
  { owner, items, present = [] }: { owner: WebhookOwner; items: readonly WatchedItemInput[]; present?: readonly WatchedItem[] },
): Promise<ResolvedItem[]> {
  const wanted = parseWatched(items);
  if (wanted.length === 0) throw refuse("Choose at least one item to watch.");
  const isRepo = ({ type }: WatchedItemInput) => (repoTypes as readonly string[]).includes(type);
  const [accounts, repos] = [
    await accountsNamed(
      tx,
      wanted.filter((item) => !isRepo(item)),
    ),
    await reposNamed(tx, actor, owner, wanted.filter(isRepo)),
  ];
  const unnamed = new Set(present.filter(({ name }) => name === null).map(({ type, id }) => `${type}:${id}`));
  const resolved = wanted.map((item): ResolvedItem => {
    const { type, name } = item;
    if (isId(name) && unnamed.has(`${type}:${name}`)) return { type, watchedId: name };
    return { type, watchedId: isRepo(item) ? repoId(repos, item) : accountId(accounts, item) };
  });
  // Two names may stand for one item, such as a former and the current one.
  return [...new Map(resolved.map((item) => [item.watchedId, item])).values()];
}

const refuse = (sentence: string) => new ServiceError("invalid_request", sentence, { field: "watched" });

type AccountRow = { handle: string; userId: string | null; orgId: string | null };

async function accountsNamed(tx: Db, items: WatchedItemInput[]): Promise<Map<string, AccountRow>> {
  if (items.length === 0) return new Map();
  const rows = await tx.$queryRaw<AccountRow[]>`SELECT h.handle, h.user_id AS "userId", h.org_id AS "orgId"
    FROM handle h LEFT JOIN "user" u ON u.id = h.user_id
    WHERE h.handle = ANY (${items.map(({ name }) => name.toLowerCase())}) AND u.disabled_at IS NULL`;
  return new Map(rows.map((row) => [row.handle, row]));
}

function accountId(accounts: Map<string, AccountRow>, { type, name }: WatchedItemInput): string {
  const row = accounts.get(name.toLowerCase());
  const id = type === "user" ? row?.userId : row?.orgId;
  if (id) return id;
  if (row) throw refuse(`${name} is ${type === "user" ? "an organization: watch it as org" : "a user: watch them as user"}.`);
  throw refuse(`There is no ${type === "user" ? "user" : "organization"} ${name}.`);
}

type RepoRow = { type: string; handle: string; name: string; id: string; isReadable: boolean; isReadableByOwner: boolean };

/** @returns the items by type and current or former name, and whether the actor and the webhook's owner may read them */
async function reposNamed(tx: Db, actor: Actor, owner: WebhookOwner, items: WatchedItemInput[]): Promise<Map<string, RepoRow>> {
  if (items.length === 0) return new Map();
  const named = items.map(({ type, name }) => ({ type, ...splitName(type, name) }));
  const readable = readableWhere("r", await readableOwners(actor, "repo.read", tx));
  const rows = await tx.$queryRaw<RepoRow[]>`
    WITH wanted AS (
      SELECT n.type, n.handle, n.name, coalesce(h.user_id, h.org_id) AS owner_id
      FROM unnest(${named.map(({ type }) => type)}::text[], ${named.map(({ handle }) => handle)}::text[],
                  ${named.map(({ repo }) => repo)}::text[]) AS n(type, handle, name)
      JOIN handle h ON h.handle = n.handle)
    SELECT DISTINCT ON (n.type, n.handle, n.name) n.type, n.handle, n.name, r.id, ${readable} AS "isReadable",
      (NOT r.is_private OR ${webhookReads(Prisma.sql`r.owner_id`, Prisma.sql`r.created_by_client_id`)}) AS "isReadableByOwner"
    FROM wanted n
    CROSS JOIN (SELECT ${owner.id}::text AS owner_id, NULL::text AS delegation_id) w
    LEFT JOIN repo_former_name f ON f.owner_id = n.owner_id AND f.type = n.type AND f.name_canonical = n.name
    JOIN repo r ON (r.owner_id = n.owner_id AND r.type = n.type AND r.name_canonical = n.name) OR r.id = f.repo_id
    LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
    WHERE u.disabled_at IS NULL
    ORDER BY n.type, n.handle, n.name, (r.id IS NOT DISTINCT FROM f.repo_id)`;
  return new Map(rows.map((row) => [`${row.type}:${row.handle}/${row.name}`, row]));
}

function splitName(type: WatchType, name: string): { handle: string; repo: string } {
  const [handle = "", repo = "", ...rest] = name.toLowerCase().split("/");
  if (isId(name)) return { handle: name, repo: "" };
  if (!handle || !repo || rest.length > 0) throw refuse(`Enter the ${type} ${name} as owner/name.`);
  return { handle, repo };
}

function repoId(repos: Map<string, RepoRow>, { type, name }: WatchedItemInput): string {
  const row = repos.get(`${type}:${name.toLowerCase()}`);
  if (!row?.isReadable) throw refuse(`There is no ${type} ${name} that you can see.`);
  // An organization does not receive what it cannot read, even if the actor can (S129).
  if (!row.isReadableByOwner)
    throw refuse(`${name} is private, and this organization cannot read it. Create a webhook of your own.`);
  return row.id;
}
