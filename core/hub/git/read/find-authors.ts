import { db } from "../../../db.ts";
import { env } from "../../../env.ts";

/** Somebody with an account here. */
export type Author = { id: string; username: string; avatarId: string | null };

/** What our own signatures have for an address (core/hub/git/write/signature.ts): it tells the id, and gives nobody's mail away. */
const OWN_ADDRESS = /^([0-9a-f]{24})\+[^@]*@users\.noreply\.(.+)$/;

/**
 * The accounts behind addresses in commits, by address. Only addresses of ours lead to somebody: whose mail address another one is,
 * is nobody's business (S115). As in all of git, whoever writes a commit says who wrote it.
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
