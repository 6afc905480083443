import { membersWhoMay } from "../../access/members-who-may.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import type { Repo } from "../repos/repo.ts";
import { askedForAccessLetter } from "./mails/asked-for-access-letter.ts";

/** In an organization with many administrators, those who joined first. */
const LETTERS_MAX = 20;

/** Mails those who decide about a new request: the owner; in an organization the administrators and the repository's creator. */
export async function mailManagers(
  tx: Db,
  repo: Repo,
  { askerId, message }: { askerId: string; message: string | null },
): Promise<void> {
  const asker = await tx.user.findUniqueOrThrow({ where: { id: askerId }, select: { username: true, email: true } });
  for (const { username, email } of await managersOf(tx, repo)) {
    await queueMail(tx, { to: email, ...askedForAccessLetter({ greeted: username, asker, repo, message }) });
  }
}

async function managersOf(tx: Db, { owner, createdById }: Repo): Promise<{ username: string; email: string }[]> {
  const select = { username: true, email: true } as const;
  const isReachable = { disabledAt: null, emailVerifiedAt: { not: null } };
  if (owner.kind === "user") return tx.user.findMany({ where: { id: owner.id, ...isReachable }, select });
  // Not every member who may decide: only the administrators and the repository's creator.
  return tx.$queryRaw`SELECT u.username, u.email FROM member_standing m
      JOIN membership j ON j.org_id = m.org_id AND j.user_id = m.user_id JOIN "user" u ON u.id = m.user_id
    WHERE m.org_id = ${owner.id} AND (m.role = 'admin' OR m.user_id = ${createdById}) AND ${membersWhoMay("repo.manage", createdById)}
      AND u.disabled_at IS NULL AND u.email_verified_at IS NOT NULL
    ORDER BY j.created_at LIMIT ${LETTERS_MAX}`;
}
