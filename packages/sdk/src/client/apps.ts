import { z } from "zod";
import {
  type ListedOAuthApp,
  listedOAuthAppSchema,
  type NewOAuthApp,
  type OAuthAppChanges,
  type OAuthAppRecord,
  oauthAppSchema,
} from "../apps.ts";
import { part, settingsPath, type Whose } from "./addresses.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";

const one = z.object({ app: oauthAppSchema });
const withSecret = one.extend({ secret: z.string().optional() });

/**
 * The operations of `client.apps`, on OAuth apps.
 *
 * These are the caller's apps or, with `{ organization }`, that organization's. The token must be the token of the service's own
 * command line, or a personal access token with the scope `manage-repos`. `rotateSecret`, `delete`, and changes of redirect URIs,
 * the sign-out URL, the device flow or the security profile need a recent token: the command line's, from a sign-in of the last
 * 15 minutes. `reauthentication_required` means that the user must sign in again.
 * @group Client @useDeclaredType
 */
export type AppsClient = ReturnType<typeof appsOf>;

export function appsOf({ request, pages }: Transport) {
  const at = (organization: string | undefined) => `${settingsPath(organization)}/apps`;
  const of = (id: string, organization: string | undefined, rest = "") => `${at(organization)}/${part(id)}${rest}`;

  return {
    /** Lists the apps, newest first. */
    list: ({ organization, signal }: Whose = {}): Paged<ListedOAuthApp> =>
      pages(at(organization), { schema: z.array(listedOAuthAppSchema), signal }),

    /** Reads one app. @throws {@link ApiError} `not_found` */
    async get(id: string, { organization, signal }: Whose = {}): Promise<OAuthAppRecord> {
      return (await request("GET", of(id, organization), { schema: one, signal })).app;
    },

    /** Creates an app. The response has the secret of a confidential app, which the service never shows again. */
    async create(app: NewOAuthApp, { organization, signal }: Whose = {}): Promise<{ app: OAuthAppRecord; secret?: string }> {
      return await request("POST", at(organization), { body: app, schema: withSecret, signal });
    },

    /** Changes an app. Absent fields keep their values. */
    async update(id: string, changes: OAuthAppChanges, { organization, signal }: Whose = {}): Promise<OAuthAppRecord> {
      return (await request("POST", of(id, organization), { body: changes, schema: one, signal, isIdempotent: true })).app;
    },

    /**
     * Gives the app its first secret or a new one, which the service never shows again. The previous secret ends now, or after
     * `overlapSeconds`, at most seven days.
     */
    rotateSecret: (
      id: string,
      { overlapSeconds, organization, signal }: Whose & { overlapSeconds?: number | undefined } = {},
    ): Promise<{ app: OAuthAppRecord; secret: string }> =>
      request("POST", of(id, organization, "/rotate-secret"), {
        body: overlapSeconds === undefined ? {} : { overlapSeconds },
        schema: one.extend({ secret: z.string() }),
        signal,
      }),

    /** Deletes an app for good. All its tokens end at once. */
    async delete(id: string, { organization, signal }: Whose = {}): Promise<void> {
      await request("DELETE", of(id, organization), { signal });
    },
  };
}
