import { seal, unseal } from "../crypto/seal.ts";
import { db } from "../db.ts";

/** Without SMTP_URL, an email is kept for a week. The text is sealed, because it may contain a working link (S55). */
export type KeptMail = { id: string; recipient: string; subject: string; text: string; createdAt: Date };

const LISTED_MAX = 50;

export const sealMail = (text: string): string => Buffer.from(seal("kept mail", text)).toString("base64");

export async function listKeptMail(recipient?: string): Promise<KeptMail[]> {
  const rows = await db().mail.findMany({
    where: { sentAt: { not: null }, text: { not: "" }, ...(recipient !== undefined && { recipient }) },
    select: { id: true, recipient: true, subject: true, text: true, createdAt: true },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: LISTED_MAX,
  });
  return rows.map((row) => ({ ...row, text: unsealMail(row.text) }));
}

function unsealMail(sealed: string): string {
  try {
    return unseal("kept mail", Buffer.from(sealed, "base64"));
  } catch {
    return "This e-mail cannot be read: it was encrypted with an earlier SECRET_KEY.\n";
  }
}
