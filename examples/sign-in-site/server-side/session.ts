import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

/** A sign-in whose browser was sent to the issuer and has not returned yet. */
export type Pending = { codeVerifier: string; nonce: string; scope: string };

export type SignedIn = {
  accessToken: string;
  refreshToken: string | undefined;
  /** The sign-out sends the ID token to the issuer. */
  idToken: string | undefined;
  expiresAt: Date | undefined;
  scopes: string[];
  profile: Profile;
};

/** All fields except `sub` depend on the granted scopes. */
export type Profile = {
  sub: string;
  name?: string;
  preferred_username?: string;
  picture?: string;
  email?: string;
  organizations?: { sub: string; name: string; roleInOrg?: string }[];
};

export type Session = {
  /** The sign-ins by `state`, so that sign-ins in two tabs do not overwrite each other. */
  pending: Map<string, Pending>;
  signedIn?: SignedIn;
  expiresAt: number;
};

const LIFETIME_SECONDS = 8 * 60 * 60;
const PENDING_MAX = 10;
const COOKIE = "paper_lantern";

// A real site keeps its sessions in a database. Everything else in this file can stay.
const sessions = new Map<string, Session>();

export function findSession(c: Context): Session | undefined {
  const session = sessions.get(getCookie(c, COOKIE) ?? "");
  return session && session.expiresAt > Date.now() ? session : undefined;
}

export function rememberPending(c: Context, state: string, pending: Pending): void {
  const session = findSession(c) ?? startSession(c, { pending: new Map() });
  session.pending.set(state, pending);
  const [oldest] = session.pending.keys();
  if (session.pending.size > PENDING_MAX && oldest) session.pending.delete(oldest);
}

/** Forgets the sign-in, so that a repeated callback finds nothing. */
export function takePending(c: Context, state: string): Pending | undefined {
  const { pending } = findSession(c) ?? {};
  const found = pending?.get(state);
  pending?.delete(state);
  return found;
}

/** The session ID is new, because somebody may have planted the previous one in the browser (session fixation). */
export function signIn(c: Context, signedIn: SignedIn): void {
  const { pending = new Map() } = findSession(c) ?? {};
  endSession(c);
  startSession(c, { pending, signedIn });
}

export function endSession(c: Context): void {
  sessions.delete(getCookie(c, COOKIE) ?? "");
  deleteCookie(c, COOKIE);
}

function startSession(c: Context, content: Omit<Session, "expiresAt">): Session {
  for (const [id, { expiresAt }] of sessions) if (expiresAt < Date.now()) sessions.delete(id);
  const id = randomBytes(32).toString("base64url");
  const session = { ...content, expiresAt: Date.now() + LIFETIME_SECONDS * 1000 };
  sessions.set(id, session);
  // Lax: sent when the issuer redirects the user back, but not with POST requests from other sites.
  setCookie(c, COOKIE, id, {
    httpOnly: true,
    sameSite: "Lax",
    secure: new URL(c.req.url).protocol === "https:",
    maxAge: LIFETIME_SECONDS,
  });
  return session;
}
