import { db } from "../../../db.ts";
import { env } from "../../../env.ts";

/** An account here. */
export type Author = { id: string; username: string; avatarId: string | null };

/** The e-mail address in our own signatures (core/hub/git/write/signature.ts): it contains the id and reveals nobody's e-mail address. */
const OWN_ADDRESS = /^([0-9a-f]{24})\+[^@]*@users\.noreply\.(.+)$/;

/**
 * Finds the accounts behind addresses in commits, by address. Only our own addresses lead to an account: who owns any other address is
 * confidential (S115). As everywhere in git, the creator of a commit chooses the author's name.
 */
export async function findAuthors(addresses: Iterable<string>): Promise<Map<string, Author>> {
  const { hostname } = new URL(env().ORIGIN);
  const ids = new Map<string, string>();
  for (const address of addresses) {
    const [, id, host] = OWN_ADDRESS.exec(address) ?? [];
    if (id && host === hostname) ids.set(address, id);
  }
  if (ids.size === 0) return new Map();
  const users = await db().user.findMany({
    where: { id: { in: [...new Set(ids.values())] }, disabledAt: null },
    select: { id: true, username: true, avatarId: true },
  });
  const byId = new Map(users.map((user) => [user.id, user]));
  return new Map([...ids].flatMap(([address, id]) => (byId.has(id) ? [[address, byId.get(id) as Author]] : [])));
}
