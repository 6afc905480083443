import { type KoaContextWithOIDC, Provider } from "oidc-provider";
import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { siteSessionCookie } from "#core/accounts/sessions/site-session-cookie.ts";
import { pool } from "#core/db.ts";
import { findArtifact, type Payload, upsertArtifact } from "./artifacts/artifact-store.ts";
import { storeOfParty } from "./artifacts/store-of-party.ts";

/** The site session of each request. The engine's session ends with the site session (S34, docs/decisions/007). */

const sessions = new WeakMap<object, Promise<SiteSession | undefined>>();

export function siteSessionOf(ctx: Pick<KoaContextWithOIDC, "cookies">): Promise<SiteSession | undefined> {
  let session = sessions.get(ctx);
  if (!session) {
    const token = ctx.cookies.get(siteSessionCookie().name, { signed: false });
    session = token ? findSiteSession(token) : Promise.resolve(undefined);
    sessions.set(ctx, session);
  }
  return session;
}

/** S34: otherwise `prompt=none` would fail for a signed-in user. */
export async function adoptSiteSession(ctx: KoaContextWithOIDC): Promise<void> {
  const site = await siteSessionOf(ctx);
  const { session } = ctx.oidc;
  if (!site || !session) return;
  const loginTs = Math.floor(site.authenticatedAt.getTime() / 1000);
  const acr = acrOf(site);
  if (session.accountId === site.user.id && session.loginTs === loginTs && session.acr === acr) return;
  if (!("new" in session)) session.resetIdentifier();
  // Two tabs may have two engine sessions. With one uid, the browser can finish the interactions of both.
  if (!session.accountId) session.uid = site.id;
  session.loginAccount({ accountId: site.user.id, loginTs, amr: amrOf(site), acr });
}

/** S34. The row of an ended session still shows whose interactions are open (logout/queue-logout-notices.ts). */
export async function findEngineSession(id: string): Promise<Payload | undefined> {
  const payload = await findArtifact("Session", id);
  const ctx = Provider.ctx;
  // Outside of a protocol request, the page compares the accounts itself.
  if (!payload || typeof payload.accountId !== "string" || !ctx) return payload;
  if ((await siteSessionOf(ctx))?.user.id !== payload.accountId) return undefined;
  return (await isUnderEndedSiteSession(ctx, payload)) ? undefined : payload;
}

/** True if the user has signed out and in again since the engine's session began. */
async function isUnderEndedSiteSession(ctx: KoaContextWithOIDC, { siteSessionId }: Payload): Promise<boolean> {
  if (typeof siteSessionId !== "string" || (await siteSessionOf(ctx))?.id === siteSessionId) return false;
  const { rowCount } = await pool().query({
    name: "is-site-session-alive",
    text: "SELECT FROM site_session WHERE id = $1 AND ended_at IS NULL AND expires_at > now()",
    values: [siteSessionId],
  });
  return rowCount === 0;
}

/**
 * The engine session ends with its site session (docs/decisions/007, S109). An empty session is not stored: each request of a
 * stranger would add a row (S143).
 */
export async function saveEngineSession(id: string, payload: Payload, expiresIn: number): Promise<void> {
  const ctx = Provider.ctx;
  const site = ctx && (await siteSessionOf(ctx));
  if (!site) return payload.accountId === undefined ? undefined : upsertArtifact("Session", id, payload, expiresIn);
  const isOfSite = site.user.id === payload.accountId;
  await storeOfParty(
    "Session",
    id,
    isOfSite ? { ...payload, siteSessionId: site.id } : payload,
    expiresIn,
    `site session ${site.id}`,
  );
  if (!isOfSite) return;
  await pool().query({
    name: "note-late-engine-session",
    text: `INSERT INTO site_session_end (site_session_id)
      SELECT $1 WHERE NOT EXISTS (SELECT FROM site_session WHERE id = $1 AND ended_at IS NULL) ON CONFLICT DO NOTHING`,
    values: [site.id],
  });
}

/**
 * OIDC Core §2, RFC 8176.
 * @returns undefined if the user signed in only at another identity provider
 */
export function amrOf({ methods }: Pick<SiteSession, "methods">): string[] | undefined {
  return methods.length > 0 ? methods : undefined;
}

export const ACR_VALUES = ["1", "2"] as const;

/**
 * OIDC Core §2.
 * @returns undefined if the level is not known
 */
export function acrOf({ methods }: Pick<SiteSession, "methods">): (typeof ACR_VALUES)[number] | undefined {
  if (methods.length === 0) return undefined;
  return methods.includes("mfa") ? "2" : "1";
}
