import { hashToken } from "#core/crypto/token.ts";
import { pool } from "#core/db.ts";
import {
  type AuthenticationMethod,
  LAST_SEEN_RESOLUTION_SECONDS,
  SITE_SESSION_ABSOLUTE_SECONDS,
  SITE_SESSION_INACTIVITY_SECONDS,
} from "./start-site-session.ts";

export type SiteSession = {
  id: string;
  userId: string;
  /** The time of the last authentication (S113). */
  authenticatedAt: Date;
  methods: AuthenticationMethod[];
  expiresAt: Date;
  user: {
    id: string;
    username: string;
    fullName: string;
    email: string;
    emailVerifiedAt: Date | null;
    avatarId: string | null;
    isOperator: boolean;
  };
};

type Row = Omit<SiteSession, "user"> & SiteSession["user"] & { sessionId: string; isSeenLongAgo: boolean };

/** @returns undefined if the session is over or its user is disabled (S112) */
export async function findSiteSession(token: string): Promise<SiteSession | undefined> {
  const { rows } = await pool().query<Row>({
    name: "find-site-session",
    text: `SELECT s.id AS "sessionId", s.authenticated_at AS "authenticatedAt", coalesce(s.methods, '{}') AS methods,
                  s.expires_at AS "expiresAt",
                  s.last_seen_at < now() - make_interval(secs => $2) AS "isSeenLongAgo",
                  u.id, u.username, u.full_name AS "fullName", u.email, u.email_verified_at AS "emailVerifiedAt",
                  u.avatar_id AS "avatarId", u.is_operator AS "isOperator"
             FROM site_session s JOIN "user" u ON u.id = s.user_id
            WHERE s.token_hash = $1 AND s.ended_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
    values: [hashToken(token), LAST_SEEN_RESOLUTION_SECONDS],
  });
  const [row] = rows;
  if (!row) return undefined;
  const { sessionId, authenticatedAt, methods, expiresAt, isSeenLongAgo, ...user } = row;
  return {
    id: sessionId,
    userId: user.id,
    authenticatedAt,
    methods,
    expiresAt: isSeenLongAgo ? await recordUse(sessionId, expiresAt) : expiresAt,
    user: {
      id: user.id,
      username: user.username,
      fullName: user.fullName,
      email: user.email,
      emailVerifiedAt: user.emailVerifiedAt,
      avatarId: user.avatarId,
      isOperator: user.isOperator,
    },
  };
}

async function recordUse(sessionId: string, expiresAt: Date): Promise<Date> {
  const { rows } = await pool().query<{ expiresAt: Date }>({
    name: "note-site-session-seen",
    text: `UPDATE site_session
              SET last_seen_at = now(),
                  expires_at = least(now() + make_interval(secs => $3), created_at + make_interval(secs => $4))
            WHERE id = $1 AND ended_at IS NULL AND last_seen_at < now() - make_interval(secs => $2)
        RETURNING expires_at AS "expiresAt"`,
    values: [sessionId, LAST_SEEN_RESOLUTION_SECONDS, SITE_SESSION_INACTIVITY_SECONDS, SITE_SESSION_ABSOLUTE_SECONDS],
  });
  return rows[0]?.expiresAt ?? expiresAt;
}

/** Finds a session's user, for a URL that was created in the session and is used outside of it. */
export async function findSessionPerson(
  sessionId: string,
  userId: string,
): Promise<{ id: string; userId: string; authenticatedAt: Date; user: { isOperator: boolean } } | undefined> {
  const { rows } = await pool().query<{ authenticatedAt: Date; isOperator: boolean }>({
    name: "find-session-person",
    text: `SELECT s.authenticated_at AS "authenticatedAt", u.is_operator AS "isOperator"
             FROM site_session s JOIN "user" u ON u.id = s.user_id
            WHERE s.id = $1 AND s.user_id = $2 AND s.ended_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
    values: [sessionId, userId],
  });
  const [row] = rows;
  return row && { id: sessionId, userId, authenticatedAt: row.authenticatedAt, user: { isOperator: row.isOperator } };
}
