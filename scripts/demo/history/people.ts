import type { AuditEventType } from "#core/audit/event-types.ts";
import { db } from "#core/db.ts";
import { newId, newOrderedId } from "#core/ids.ts";
import { clientFingerprint } from "#core/oauth/clients/client-identity.ts";
import { findClientMetadata } from "#core/oauth/clients/find-client.ts";
import { HISTORY_DAYS } from "../sample-commits.ts";
import type { Rows } from "./write-history.ts";

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** The IP addresses are reserved for documentation (RFC 5737). */
const desks: Record<string, { ip: string; user_agent: string; hour: number }> = {
  mara: { ip: "192.0.2.14", user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", hour: 7 },
  jonas: {
    ip: "203.0.113.51",
    user_agent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    hour: 9,
  },
  aiko: {
    ip: "198.51.100.77",
    user_agent:
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    hour: 1,
  },
  opal: { ip: "192.0.2.2", user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", hour: 8 },
};

type Entry = {
  daysAgo: number;
  type: AuditEventType;
  by?: string;
  org?: string;
  app?: string;
  subject?: string;
  data?: object;
};

const days = (of: Omit<Entry, "daysAgo">, ...ago: number[]): Entry[] => ago.map((daysAgo) => ({ ...of, daysAgo }));

const changes = (): readonly Entry[] => [
  ...consents.map(({ by, app, daysAgo }): Entry => ({ by, app, daysAgo, type: "oauth_consent.give", data: { scopes: SCOPES } })),
  ...days({ type: "organization.update", by: "mara", org: "northwind", data: { fullName: "Northwind Labs" } }, 27.4),
  ...days(
    {
      type: "organization.change_role",
      by: "aiko",
      org: "tidepool",
      subject: "jonas",
      data: { from: "read", to: "contributor" },
    },
    25.3,
  ),
  ...days({ type: "personal_access_token.create", by: "mara", subject: "mara", data: { name: "Laptop" } }, 23.6),
  ...days({ type: "personal_access_token.revoke", by: "mara", subject: "mara", data: { name: "Laptop" } }, 11.6),
  ...days({ type: "oauth_consent.give", by: "jonas", app: "Tin Whistle", data: { scopes: ["openid", "read-repos"] } }, 22.4),
  ...days({ type: "oauth_consent.revoke", by: "jonas", app: "Tin Whistle" }, 6.4),
  ...days({ type: "user.update_profile", by: "mara", subject: "mara", data: { fullName: "Mara Lindqvist" } }, 20.5),
  ...days({ type: "webhook.rotate_secret", by: "aiko", org: "tidepool" }, 16.2),
  ...days({ type: "user.sign_in_failed", subject: "jonas" }, 15.601, 15.6, 4.602, 4.601),
  ...days({ type: "organization.invite", by: "aiko", org: "tidepool", data: { email: "lena@example.test", role: "read" } }, 14.2),
  ...days({ type: "organization.revoke_invitation", by: "aiko", org: "tidepool", data: { email: "lena@example.test" } }, 12.2),
  ...days({ type: "oauth_consent.give", by: "mara", app: "Copper Kite", data: { scopes: ["openid", "profile"] } }, 9.4),
  ...days({ type: "oauth_consent.give_organization", by: "mara", subject: "mara", app: "Copper Kite", org: "tidepool" }, 9.4),
  ...days({ type: "oauth_consent.revoke_organization", by: "mara", subject: "mara", app: "Copper Kite", org: "tidepool" }, 7.5),
  ...days({ type: "oauth_consent.revoke", by: "mara", app: "Copper Kite" }, 7.5),
  ...days({ type: "webhook.test", by: "aiko", org: "tidepool", data: { kind: "repo.content.update" } }, 8.2),
  ...days({ type: "mail.test", by: "opal", data: { to: "opal@example.test" } }, 5.3),
  ...days({ type: "user.reauthenticate", by: "mara", subject: "mara" }, 23.61, 11.61),
];

export async function peopleRows(ownerIds: string[], now: number): Promise<Rows> {
  const [users, organizations, apps] = await Promise.all([
    db().user.findMany({ where: { id: { in: ownerIds } }, select: { id: true, username: true } }),
    db().organization.findMany({ where: { id: { in: ownerIds } }, select: { id: true, name: true } }),
    db().oAuthApp.findMany({
      where: { OR: [{ ownerUserId: { in: ownerIds } }, { ownerOrgId: { in: ownerIds } }] },
      select: { clientId: true, name: true },
    }),
  ]);
  const userIds = new Map(users.map(({ id, username }) => [username, id]));
  const orgIds = new Map(organizations.map(({ id, name }) => [name, id]));
  const clientIds = new Map(apps.map(({ clientId, name }) => [name, clientId]));
  const entries = [...changes(), ...signIns(now)].map(({ daysAgo, type, by, org, app, subject, data = {} }) => {
    const at = now - daysAgo * DAY_MS;
    const { ip = null, user_agent = null } = desks[by ?? subject ?? ""] ?? {};
    const about = { actor_id: idIn(userIds, by), org_id: idIn(orgIds, org), client_id: idIn(clientIds, app) };
    const subject_id = idIn(userIds, subject);
    return { id: newOrderedId(at), type, ...about, subject_id, data, ip, user_agent, created_at: new Date(at) };
  });
  return {
    audit_event: entries.sort((a, b) => (a.id < b.id ? -1 : 1)),
    oauth_consent: await consentRows(clientIds, userIds, now),
    ...usageRows([...clientIds.values()], [...userIds.values()], now),
  };
}

const idIn = (ids: Map<string, string>, name: string | undefined): string | null => (name && ids.get(name)) || null;

function signIns(now: number): Entry[] {
  return Array.from({ length: HISTORY_DAYS }, (_, nth) => nth + 1).flatMap((ago) => {
    const midnight = Math.floor(now / DAY_MS) * DAY_MS - ago * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(midnight).getUTCDay());
    return Object.entries(desks).flatMap(([username, { hour }], desk): Entry[] => {
      if (isWeekend || (username === "opal" && ago % 5 !== 3)) return [];
      const start = midnight + (hour + ((ago * 7 + desk * 3) % 11) / 6) * HOUR_MS;
      const daysAgo = (now - start) / DAY_MS;
      const who = { by: username, subject: username };
      const signIn: Entry = { ...who, daysAgo, type: "user.sign_in", data: { with: "a password", methods: ["pwd"] } };
      return ago % 3 === desk % 3 ? [signIn] : [signIn, { ...who, daysAgo: daysAgo - 8 / 24, type: "user.sign_out" }];
    });
  });
}

const SCOPES = ["openid", "profile", "read-repos"];
const consents = [
  { by: "opal", app: "Paper Lantern", daysAgo: 24.3 },
  { by: "aiko", app: "Copper Kite", daysAgo: 21.1 },
  { by: "aiko", app: "Tin Whistle", daysAgo: 10.2 },
];

function consentRows(clientIds: Map<string, string>, userIds: Map<string, string>, now: number): Promise<object[]> {
  const known = consents.filter(({ by, app }) => userIds.has(by) && clientIds.has(app));
  return Promise.all(
    known.map(async ({ by, app, daysAgo }) => {
      const clientId = clientIds.get(app) ?? "";
      const client = await findClientMetadata(clientId);
      const at = new Date(now - daysAgo * DAY_MS);
      return {
        ...{ id: newId(), user_id: userIds.get(by), client_id: clientId, scopes: SCOPES, declined_scopes: [], org_ids: [] },
        ...{ declined_org_ids: [], is_all_orgs: false, resources: [], client_fingerprint: fingerprintOf(client) },
        ...{ created_at: at, updated_at: at, last_used_at: new Date(now - DAY_MS) },
      };
    }),
  );
}

const fingerprintOf = (client: Awaited<ReturnType<typeof findClientMetadata>>): string =>
  clientFingerprint({ clientName: client?.client_name, redirectUris: client?.redirect_uris, logoUri: client?.logo_uri });

function usageRows(clientIds: readonly string[], userIds: readonly string[], now: number): Rows {
  const used = Array.from({ length: HISTORY_DAYS }, (_, nth) => nth + 1).flatMap((ago) =>
    clientIds.map((client_id, app) => {
      const day = new Date(now - ago * DAY_MS).toISOString().slice(0, 10);
      const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
      const authorizations = isWeekend ? (ago + app) % 2 : 1 + ((ago * 5 + app * 3) % 7);
      return { client_id, day, authorizations, tokens: authorizations * 3 + ((ago + app) % 4) };
    }),
  );
  const active = used.flatMap(({ client_id, day, authorizations }) =>
    userIds.slice(0, Math.min(authorizations, userIds.length)).map((user_id) => ({ client_id, day, user_id })),
  );
  return { oauth_app_usage: used, oauth_app_active_user: active };
}
