import { db } from "../../db.ts";
import type { ProviderKind } from "./provider-kinds.ts";

export type LinkedIdentity = {
  id: string;
  displayName: string;
  createdAt: Date;
  lastUsedAt: Date;
  provider: {
    slug: string;
    name: string;
    kind: ProviderKind;
    isDisabled: boolean;
    organization: { name: string; fullName: string } | null;
  };
};

// More than can be linked.
const LIST_MAX_ROWS = 100;

/** The identities of a user, the first linked first. */
export async function listLinkedIdentities(userId: string): Promise<LinkedIdentity[]> {
  const rows = await db().linkedIdentity.findMany({
    where: { userId },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    take: LIST_MAX_ROWS,
    select: {
      id: true,
      displayName: true,
      subject: true,
      createdAt: true,
      lastUsedAt: true,
      provider: {
        select: { slug: true, name: true, kind: true, disabledAt: true, org: { select: { name: true, fullName: true } } },
      },
    },
  });
  return rows.map(({ displayName, subject, provider: { org, disabledAt, kind, ...provider }, ...row }) => ({
    ...row,
    displayName: displayName ?? subject,
    provider: { ...provider, kind: kind as ProviderKind, isDisabled: disabledAt !== null, organization: org },
  }));
}
