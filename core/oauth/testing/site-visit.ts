import { newId } from "#core/ids.ts";
import { type DocumentSite, startDocumentSite } from "./document-site.ts";
import { authorize, type Tokens } from "./sign-in.ts";
import type { AnyWorld } from "./world.ts";

export type Visit = Awaited<ReturnType<typeof visitSite>>;

export async function visitSite(world: AnyWorld, changes: Record<string, unknown> = {}) {
  const site = await startDocumentSite(changes);
  const person = await world.user(`p-${newId()}`);
  const browser = world.browser();
  const session = await world.signIn(browser, person);
  return { world, site, person, browser, session, app: site.app };
}

export const asked = ({ site }: { site: DocumentSite }, parameters: Record<string, string> = {}) => ({
  redirect_uri: site.redirectUri,
  ...parameters,
});

export async function signInAtSite(visit: Visit, parameters: Record<string, string> = {}): Promise<Tokens> {
  const { world, site } = visit;
  const all = asked(visit, parameters);
  const { code, verifier } = await authorize(visit, all);
  const response = await world.post("/oauth/token", {
    grant_type: "authorization_code",
    client_id: site.clientId,
    code,
    code_verifier: verifier,
    redirect_uri: all.redirect_uri,
  });
  if (response.status !== 200) throw new Error(`no tokens: ${response.status} ${await response.text()}`);
  return (await response.json()) as Tokens;
}
