import { seal } from "#core/crypto/seal.ts";
import { pool } from "#core/db.ts";
import { newId, newOrderedId } from "#core/ids.ts";

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const WEBHOOKS = 50;

export async function makeWebhooks(count: number, url: string): Promise<{ ids: string[]; ownerId: string; repoId: string }> {
  const [ownerId, repoId] = [newId(), newId()];
  const ids = Array.from({ length: count }, newId);
  await pool().query(
    `insert into "user" (id, username, full_name, email, email_canonical) select $1::text, $1::text, $1::text, $1::text, $1::text`,
    [ownerId],
  );
  await pool().query(
    `insert into webhook (id, owner_id, owner_kind, url, domains, secret) select id, $2, 'user', $3, '{repo}', $4 from unnest($1::text[]) id`,
    [ids, ownerId, url, Buffer.from(seal("webhook secret", SECRET))],
  );
  await pool().query(`insert into webhook_watch (webhook_id, type, target_id) select id, 'user', $2 from unnest($1::text[]) id`, [
    ids,
    ownerId,
  ]);
  return { ids, ownerId, repoId };
}

export const payloadOf = ({ ownerId, repoId }: { ownerId: string; repoId: string }, tag: string) =>
  JSON.stringify({
    event: { scope: "repo.content", action: "update" },
    repo: {
      type: "model",
      name: "ada/tides",
      id: repoId,
      private: false,
      url: { web: "https://hub.example.com/ada/tides", api: "https://hub.example.com/api/models/ada/tides" },
      owner: { id: ownerId },
      headSha: "4f1c2e8d0a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
      tags: [tag],
    },
    updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: "4f1c2e8d0a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d" }],
  });

export async function insertEvents(of: { ownerId: string; repoId: string }, tags: string[]): Promise<void> {
  await pool().query(
    `insert into event (id, scope, action, repo_id, repo_type, owner_id, is_private, payload)
     select id, 'repo.content', 'update', $3, 'model', $4, false, payload::json from unnest($1::text[], $2::text[]) as e(id, payload)`,
    [tags.map(() => newOrderedId()), tags.map((tag) => payloadOf(of, tag)), of.repoId, of.ownerId],
  );
}

export async function fillEvents(count: number, url: string): Promise<void> {
  const targets = await Promise.all(Array.from({ length: WEBHOOKS }, () => makeWebhooks(1, url)));
  for (const [at, of] of targets.entries()) {
    const each = Math.floor(count / WEBHOOKS) + (at < count % WEBHOOKS ? 1 : 0);
    await insertEvents(
      of,
      Array.from({ length: each }, (_, nth) => `n${nth}`),
    );
  }
}
