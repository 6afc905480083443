import { scopes } from "@keyhook/sdk";
import { db } from "../../db.ts";
import { env } from "../../env.ts";
import { newId } from "../../ids.ts";
import { ACCESS_TOKEN_MAX_SECONDS } from "../lifetimes.ts";
import { notifyAppChange } from "./notify-app-change.ts";

/** The client ID built into the hub's own command line (C8 in docs/specification/existing-clients.md). */
export const CLI_CLIENT_ID = "26be6b09-91c5-47da-9861-d2d2bb7a7e36";

/**
 * Makes sure that the command line's app exists as this version wants it: public, for the device flow only, with every scope. Its tokens
 * last 30 days; with each command it refreshes a token that expires within a day (C9 in docs/specification/existing-clients.md). Any number
 * of processes may run this at once; if nothing differs, nothing is written.
 */
export async function ensureCliApp(): Promise<void> {
  const name = `${env().BRAND_NAME} CLI`;
  await db().$transaction(async (tx) => {
    const count = await tx.$executeRaw`
      INSERT INTO oauth_app AS app (id, client_id, name, scopes, redirect_uris, post_logout_redirect_uris, access_token_seconds,
        is_device_flow_allowed, is_refresh_allowed, is_pkce_required, is_first_party, verified_at)
      VALUES (${newId()}, ${CLI_CLIENT_ID}, ${name}, ${[...scopes]}, '{}', '{}', ${ACCESS_TOKEN_MAX_SECONDS},
        true, true, true, true, now())
      ON CONFLICT (client_id) DO UPDATE SET name = excluded.name, scopes = excluded.scopes,
        access_token_seconds = excluded.access_token_seconds, updated_at = now()
      WHERE (app.name, app.scopes, app.access_token_seconds)
        IS DISTINCT FROM (excluded.name, excluded.scopes, excluded.access_token_seconds)`;
    if (count > 0) await notifyAppChange(tx, CLI_CLIENT_ID);
  });
}
