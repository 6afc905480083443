import { z } from "zod";
import {
  type ListedOAuthApp,
  listedOAuthAppSchema,
  type NewOAuthApp,
  type OAuthAppChanges,
  type OAuthAppRecord,
  oauthAppSchema,
} from "../apps.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";
import { part, settingsPath, type Whose } from "./whose.ts";

const one = z.object({ app: oauthAppSchema });
const withSecret = one.extend({ secret: z.string().optional() });

/**
 * The caller's OAuth apps, or with `{ organization }` those of an organization. It takes a personal access token with the scope
 * `manage-repos`, or the token of the service's own command line; no app's token is taken. Secrets, redirect URIs and deletion take that
 * of the command line, let in within the last 15 minutes: `reauthentication_required` asks to sign in anew.
 */
export function appsOf({ request, pages }: Transport) {
  const at = (organization: string | undefined) => `${settingsPath(organization)}/apps`;
  const of = (id: string, organization: string | undefined, rest = "") => `${at(organization)}/${part(id)}${rest}`;

  return {
    /** The newest first. */
    list: ({ organization, signal }: Whose = {}): Paged<ListedOAuthApp> =>
      pages(at(organization), { schema: z.array(listedOAuthAppSchema), signal }),

    async get(id: string, { organization, signal }: Whose = {}): Promise<OAuthAppRecord> {
      return (await request("GET", of(id, organization), { schema: one, signal })).app;
    },

    /** @returns of a confidential app with its secret: it is never shown again */
    async create(app: NewOAuthApp, { organization, signal }: Whose = {}): Promise<{ app: OAuthAppRecord; secret?: string }> {
      return await request("POST", at(organization), { body: app, schema: withSecret, signal });
    },

    /** What is left out stays as it is. */
    async update(id: string, changes: OAuthAppChanges, { organization, signal }: Whose = {}): Promise<OAuthAppRecord> {
      return (await request("POST", of(id, organization), { body: changes, schema: one, signal, isIdempotent: true })).app;
    },

    /** A new secret, or the first one, shown this once. The one before ends now, or after `overlapSeconds`, at most 7 days. */
    rotateSecret: (
      id: string,
      { overlapSeconds, organization, signal }: Whose & { overlapSeconds?: number | undefined } = {},
    ): Promise<{ app: OAuthAppRecord; secret: string }> =>
      request("POST", of(id, organization, "/rotate-secret"), {
        body: overlapSeconds === undefined ? {} : { overlapSeconds },
        schema: one.extend({ secret: z.string() }),
        signal,
      }),

    /** For good: every token of it ends at once. */
    async delete(id: string, { organization, signal }: Whose = {}): Promise<void> {
      await request("DELETE", of(id, organization), { signal });
    },
  };
}
