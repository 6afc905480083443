import { membersWhoMay } from "../../access/members-who-may.ts";
import type { Db } from "../../db.ts";
import { queueMail } from "../../mail/queue-mail.ts";
import type { Repo } from "../repos/repo.ts";
import { askedForAccessLetter } from "./mails/asked-for-access-letter.ts";

/** Of an organization with many administrators, those who were there first. */
const LETTERS_MAX = 20;

/** Tells those who decide that somebody asks: the owner; of an organization its administrators, and the member who made it. */
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
  // Of those who may, not every member who writes: the administrators, and who made it.
  return tx.$queryRaw`SELECT u.username, u.email FROM member_standing m
      JOIN membership j ON j.org_id = m.org_id AND j.user_id = m.user_id JOIN "user" u ON u.id = m.user_id
    WHERE m.org_id = ${owner.id} AND (m.role = 'admin' OR m.user_id = ${createdById}) AND ${membersWhoMay("repo.manage", createdById)}
      AND u.disabled_at IS NULL AND u.email_verified_at IS NOT NULL
    ORDER BY j.created_at LIMIT ${LETTERS_MAX}`;
}
