import { personActor } from "#core/access/actor.ts";
import type { Filling } from "#core/docs/fill-in.ts";
import { env } from "#core/env.ts";
import { listApps } from "#core/oauth/apps/list-apps.ts";
import { sampleRedirectUri } from "../_components/applications/snippets.ts";
import { currentSession } from "../_server/session.ts";

export type Reader = Readonly<{
  filling: Filling;
  isSignedIn: boolean;
  apps: ReadonlyArray<Readonly<{ id: string; name: string }>>;
  app?: Readonly<{ id: string; name: string; isConfidential: boolean }>;
}>;

/** Never includes a secret. @param chosen the id of one of the reader's apps. Any other text means the newest */
export async function findReader(chosen: string): Promise<Reader> {
  const session = await currentSession();
  const { apps } = session ? await listApps(personActor(session), { userId: session.user.id }) : { apps: [] };
  const app = apps.find(({ id }) => id === chosen) ?? apps[0];
  const instance = instanceFilling();
  if (!app) return { filling: instance, isSignedIn: session !== undefined, apps };
  const redirectUri = app.redirectUris.length > 0 ? sampleRedirectUri(app.redirectUris) : undefined;
  return {
    filling: { ...instance, app: { clientId: app.clientId, redirectUri, scope: app.scopes.join(" ") } },
    isSignedIn: true,
    apps,
    app,
  };
}

export function instanceFilling(): Filling {
  const { ORIGIN, BRAND_NAME, VENDOR, TOKEN_PREFIX } = env();
  return { origin: ORIGIN, brand: BRAND_NAME, vendor: VENDOR, tokenPrefix: TOKEN_PREFIX };
}
