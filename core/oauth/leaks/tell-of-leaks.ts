import { type Letter, letter, link } from "#core/accounts/mails/letter.ts";
import type { Db } from "#core/db.ts";
import { env } from "#core/env.ts";
import { queueMail } from "#core/mail/queue-mail.ts";
import type { LeakedCredential } from "./end-by-hash.ts";

/** If an organization has many administrators, the longest-serving ones. */
const ADMINISTRATORS_MAX = 20;

type Reader = { userId: string; username: string; email: string };

/** One letter to each user whose tokens these were, or who manages what they were for. */
export async function tellOfLeaks(tx: Db, leaked: readonly LeakedCredential[]): Promise<void> {
  if (leaked.length === 0) return;
  const [readers, apps] = [await readersOf(tx, leaked), await appNames(tx, leaked)];
  const lines = new Map<Reader, string[]>();
  for (const one of leaked) {
    for (const reader of readers.get(one) ?? []) lines.set(reader, [...(lines.get(reader) ?? []), lineOf(one, apps)]);
  }
  for (const [reader, about] of lines) await queueMail(tx, { to: reader.email, ...leakLetter(reader, about) });
}

function lineOf({ kind, name, clientId, orgId }: LeakedCredential, apps: ReadonlyMap<string, string>): string {
  const app = (clientId && apps.get(clientId)) ?? clientId;
  if (kind === "personal") return `- your access token "${name}": it is revoked.`;
  if (kind === "oauth" && orgId)
    return `- a token that the app "${app}" had exchanged for a member of the organization: it is revoked.`;
  if (kind === "oauth")
    return `- a token that the app "${app}" had from you: the app is signed out, and has to ask you to sign in anew.`;
  if (kind === "ci") return `- a token of the job "${name}": it is revoked.`;
  return `- a secret of the app "${app}": it still works, since your users would be shut out. Rotate it now, in the app's settings.`;
}

function leakLetter({ username }: Reader, lines: readonly string[]): Letter {
  const { BRAND_NAME } = env();
  return letter(`A ${BRAND_NAME} token of yours has leaked`, username, [
    "somebody has found these where others can read them, and told us:",
    lines.join("\n"),
    "Find out where they were: a public repository, a log, an image. Then replace them there, and see what was done with them:",
    link("/settings/security-log"),
  ]);
}

/**
 * The user of a token. For what belongs to an organization, its administrators, also for the secret of another owner's app that exchanges
 * tokens for it: they can rotate that secret, and its owner cannot.
 */
async function readersOf(tx: Db, leaked: readonly LeakedCredential[]): Promise<Map<LeakedCredential, Reader[]>> {
  const userIds = leaked.flatMap(({ userId }) => userId ?? []);
  const orgIds = [...new Set(leaked.flatMap(({ orgId }) => orgId ?? []))];
  const rows = await tx.$queryRaw<(Reader & { orgId: string | null })[]>`
    SELECT u.id AS "userId", u.username, u.email, NULL AS "orgId" FROM "user" u WHERE u.id = ANY (${userIds}) AND u.disabled_at IS NULL
    UNION ALL
    SELECT a.id, a.username, a.email, o.id FROM unnest(${orgIds}::text[]) AS o(id) CROSS JOIN LATERAL (
      SELECT u.id, u.username, u.email FROM membership m JOIN "user" u ON u.id = m.user_id
       WHERE m.org_id = o.id AND m.role = 'admin' AND u.disabled_at IS NULL ORDER BY m.created_at LIMIT ${ADMINISTRATORS_MAX}) a`;
  const [people, administrators] = [new Map<string, Reader>(), new Map<string, Reader[]>()];
  for (const { orgId, ...reader } of rows) {
    const known = people.get(reader.userId) ?? reader;
    people.set(reader.userId, known);
    if (orgId) administrators.set(orgId, [...(administrators.get(orgId) ?? []), known]);
  }
  return new Map(
    leaked.map((one) => {
      const person = one.userId ? people.get(one.userId) : undefined;
      const others = (one.orgId && administrators.get(one.orgId)) || [];
      return [one, [...new Set(person ? [person, ...others] : others)]];
    }),
  );
}

async function appNames(tx: Db, leaked: readonly LeakedCredential[]): Promise<Map<string, string>> {
  const clientIds = leaked.flatMap(({ clientId }) => clientId ?? []);
  const rows = await tx.$queryRaw<{ clientId: string; name: string | null }[]>`
    SELECT client_id AS "clientId", name FROM oauth_app WHERE client_id = ANY (${clientIds})
    UNION ALL
    SELECT client_id, metadata ->> 'client_name' FROM oauth_client_document WHERE client_id = ANY (${clientIds})`;
  return new Map(rows.flatMap(({ clientId, name }) => (name ? [[clientId, name] as const] : [])));
}
