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
  const members = await tx.membership.findMany({
    where: {
      orgId: owner.id,
      user: isReachable,
      OR: [{ role: "admin" }, ...(createdById ? [{ userId: createdById, role: { not: "read" } }] : [])],
    },
    orderBy: { createdAt: "asc" },
    take: LETTERS_MAX,
    select: { user: { select } },
  });
  return members.map(({ user }) => user);
}
