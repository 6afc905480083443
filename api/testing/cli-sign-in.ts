import { findSiteSession, type SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import type { TestPerson } from "#core/accounts/testing/people.ts";
import { CLI_CLIENT_ID, ensureCliApp } from "#core/oauth/apps/create-app.ts";
import { allowDevice } from "#core/oauth/testing/device.ts";

export async function signInByCli(
  origin: string,
  person: TestPerson,
  { orgIds = [] }: { orgIds?: string[] } = {},
): Promise<{ accessToken: string; refreshToken: string }> {
  await ensureCliApp();
  const post = async (path: string, form: Record<string, string>) => {
    const response = await fetch(origin + path, {
      method: "POST",
      body: new URLSearchParams({ client_id: CLI_CLIENT_ID, ...form }),
    });
    return await response.json();
  };
  const { device_code, user_code } = await post("/oauth/device", {});
  await allowDevice((await findSiteSession(person.token)) as SiteSession, user_code, { orgIds });
  const tokens = await post("/oauth/token", { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code });
  if (!tokens.access_token) throw new Error(`no token: ${JSON.stringify(tokens)}`);
  return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token };
}
