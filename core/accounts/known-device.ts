import { isSigned, sign } from "../crypto/seal.ts";
import { newToken } from "../crypto/token.ts";
import { db } from "../db.ts";
import { isId } from "../ids.ts";
import { siteSessionCookie } from "./sessions/site-session-cookie.ts";

/** Device cookies (OWASP) give no access. Known browsers have counters of their own, so strangers cannot lock the owner out. */

const PEOPLE_MAX = 5;
const KEPT_SECONDS = 365 * 24 * 60 * 60;

/** Like the session's cookie (S111). */
export function knownDeviceCookie(): ReturnType<typeof siteSessionCookie> {
  const session = siteSessionCookie();
  return { name: session.name.replace("session", "known"), options: { ...session.options, maxAge: KEPT_SECONDS } };
}

export async function rememberDevice(userId: string, cookie: string | undefined): Promise<string> {
  const user = await db().user.findUnique({ where: { id: userId }, select: { passwordHash: true } });
  const device = newToken().slice(0, 22);
  const others = entriesOf(cookie).filter((entry) => entry.userId !== userId);
  const mine = { userId, device, signature: sign(PURPOSE, textOf({ userId, device }, user?.passwordHash ?? null)) };
  return [mine, ...others.slice(0, PEOPLE_MAX - 1)]
    .map((entry) => [entry.userId, entry.device, entry.signature].join("."))
    .join("~");
}

/** A person who knew the old password must not get separate counters for guessing the new one. */
export function knownDevice(
  user: { id: string; passwordHash: string | null } | undefined,
  cookie: string | undefined,
): KnownDevice | undefined {
  const entry = entriesOf(cookie).find(({ userId }) => userId === user?.id);
  if (!user || !entry || !isSigned(PURPOSE, textOf(entry, user.passwordHash), entry.signature)) return undefined;
  return entry;
}

export type KnownDevice = { userId: string; device: string };

type Entry = KnownDevice & { signature: string };

function entriesOf(cookie: string | undefined): Entry[] {
  if (!cookie || cookie.length > 1_000) return [];
  return cookie.split("~").flatMap((text) => {
    const [userId = "", device = "", signed = "", ...rest] = text.split(".");
    return isId(userId) && rest.length === 0 ? [{ userId, device, signature: signed }] : [];
  });
}

const PURPOSE = "known device";

const textOf = ({ userId, device }: KnownDevice, passwordHash: string | null): string =>
  `${userId}\n${device}\n${passwordHash ?? ""}`;
