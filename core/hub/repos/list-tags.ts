import type { RepoType } from "@keyhook/sdk";
import { db } from "../../db.ts";

const TAGS_MAX = 1_000;
const REPOS_MAX = 10_000;
const FRESH_MS = 60_000;

const known = new Map<RepoType, { tags: Promise<string[]>; until: number }>();

/** Cached for a minute, because anybody may request the tags (S137). */
export function listTags(type: RepoType): Promise<string[]> {
  const before = known.get(type);
  if (before && before.until > Date.now()) return before.tags;
  const tags = readTags(type);
  known.set(type, { tags, until: Date.now() + FRESH_MS });
  tags.catch(() => known.delete(type));
  return tags;
}

async function readTags(type: RepoType): Promise<string[]> {
  const rows = await db().$queryRaw<{ tag: string }[]>`
    SELECT tag FROM (
      SELECT r.tags FROM repo r LEFT JOIN "user" u ON r.owner_kind = 'user' AND u.id = r.owner_id
       WHERE r.type = ${type} AND NOT r.is_private AND u.disabled_at IS NULL
       ORDER BY r.updated_at DESC LIMIT ${REPOS_MAX}
    ) latest, unnest(tags) AS tag GROUP BY tag ORDER BY count(*) DESC, tag LIMIT ${TAGS_MAX}`;
  return rows.map(({ tag }) => tag);
}
