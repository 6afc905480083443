import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "#core/ids.ts";

import { type DocumentSite, startDocumentSite } from "../testing/document-site.ts";
import { startWorld, type World } from "../testing/world.ts";

/** Sign-in at a site that is registered by nothing but its own document (brief §2.2, §4.6). */
let world: World;
const sites: DocumentSite[] = [];
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.stop();
  for (const site of sites) await site.stop();
});

async function prepareSite(changes: Record<string, unknown> = {}) {
  const site = await startDocumentSite(changes);
  sites.push(site);
  const person = await world.user(`p-${newId()}`);
  const browser = world.browser();
  const session = await world.signIn(browser, person);
  return { world, site, person, browser, session, app: site.app };
}

describe("a site that is known by its document", () => {
  test("signs a person in, with an independent client library", async () => {
    const { site, session, browser, person } = await prepareSite();
    const parameters = { redirect_uri: site.redirectUri, scope: "openid profile offline_access" };
    const { tokens } = await world.signInWith(site.app, session, browser, parameters);
    const claims = await (await world.userinfo(tokens.access_token)).json();
    expect(claims).toMatchObject({ sub: person.id });
    expect(tokens.refresh_token).toBeTruthy();
    expect(site.fetches()).toBe(1);
  });
});
