import { pool } from "#core/db.ts";
import { log } from "#core/log.ts";

/** Counts are collected in memory, so that they do not slow down requests. A killed process loses a few seconds of them. */
const FLUSH_MS = 5_000;

type Count = { authorizations: number; tokens: number; users: Set<string> };
let counts = new Map<string, Count>();
let secretIds = new Set<string>();
let timer: NodeJS.Timeout | undefined;

function countOf(clientId: string): Count {
  let count = counts.get(clientId);
  if (!count) {
    count = { authorizations: 0, tokens: 0, users: new Set() };
    counts.set(clientId, count);
  }
  flushSoon();
  return count;
}

function flushSoon(): void {
  timer ??= setTimeout(() => void flushUsage(), FLUSH_MS).unref();
}

export function countAuthorization(clientId: string | undefined, userId: string | undefined): void {
  if (!clientId) return;
  const count = countOf(clientId);
  count.authorizations += 1;
  if (userId) count.users.add(userId);
}

export function countToken(clientId: string | undefined, userId: string | undefined): void {
  if (!clientId) return;
  const count = countOf(clientId);
  count.tokens += 1;
  if (userId) count.users.add(userId);
}

export function countSecretUse(secretId: string): void {
  secretIds.add(secretId);
  flushSoon();
}

const ADD_USAGE = `INSERT INTO oauth_app_usage (client_id, day, authorizations, tokens)
  SELECT client_id, (now() AT TIME ZONE 'UTC')::date, authorizations, tokens
    FROM unnest($1::text[], $2::int[], $3::int[]) AS counted(client_id, authorizations, tokens)
  ON CONFLICT (client_id, day) DO UPDATE SET authorizations = oauth_app_usage.authorizations + excluded.authorizations,
    tokens = oauth_app_usage.tokens + excluded.tokens`;

const ADD_USERS = `INSERT INTO oauth_app_active_user (client_id, day, user_id)
  SELECT client_id, (now() AT TIME ZONE 'UTC')::date, user_id FROM unnest($1::text[], $2::text[]) AS seen(client_id, user_id)
  ON CONFLICT DO NOTHING`;

const TOUCH_CONSENTS = `UPDATE oauth_consent SET last_used_at = now() FROM unnest($1::text[], $2::text[]) AS seen(client_id, user_id)
  WHERE oauth_consent.client_id = seen.client_id AND oauth_consent.user_id = seen.user_id AND revoked_at IS NULL`;

const TOUCH_SECRETS = "UPDATE oauth_app_secret SET last_used_at = now() WHERE id = ANY ($1)";

export async function flushUsage(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (counts.size === 0 && secretIds.size === 0) return;
  const counted = [...counts];
  const secrets = [...secretIds];
  counts = new Map();
  secretIds = new Set();
  const pairs = counted.flatMap(([clientId, { users }]) => [...users].map((user) => [clientId, user] as const));
  const seen = [pairs.map(([clientId]) => clientId), pairs.map(([, user]) => user)];
  try {
    await pool().query(ADD_USAGE, [
      counted.map(([clientId]) => clientId),
      counted.map(([, count]) => count.authorizations),
      counted.map(([, count]) => count.tokens),
    ]);
    await pool().query(ADD_USERS, seen);
    await pool().query(TOUCH_CONSENTS, seen);
    await pool().query(TOUCH_SECRETS, [secrets]);
  } catch (error) {
    log().warn({ err: error }, "usage could not be counted");
  }
}
