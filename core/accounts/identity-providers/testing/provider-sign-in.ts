import { operatorCommand } from "#core/access/actor.ts";
import { freshName, from, signedInPerson, type TestPerson } from "../../testing/people.ts";
import type { IdentityProvider } from "../identity-provider.ts";
import { linkIdentity } from "../linked-identities.ts";
import { addIdentityProvider, type NewIdentityProvider } from "../manage-identity-providers.ts";
import { type Callback, receiveCallback } from "../receive-callback.ts";
import { type SignInElsewhere, startProviderSignIn } from "../start-provider-sign-in.ts";
import { startHandMadeIssuer } from "./hand-made-issuer.ts";

type SignInOptions = { person?: TestPerson; intent?: SignInElsewhere["intent"]; next?: string };
type CallbackChanges = Partial<Callback> & { answer?: Record<string, string | undefined> };

export async function startTestProvider() {
  const issuer = await startHandMadeIssuer();

  async function provider(changes: Partial<NewIdentityProvider> = {}): Promise<IdentityProvider> {
    const input = { orgId: null, kind: "oidc", slug: freshName("p"), name: "Upstream", issuer: issuer.origin };
    return addIdentityProvider(operatorCommand, { ...input, clientId: "us", clientSecret: "s", ...changes }, from);
  }

  async function signInVia(
    { slug }: { slug: string },
    { person, intent = "sign-in", next = "/after" }: SignInOptions = {},
    changes: CallbackChanges = {},
  ) {
    const { url, browser } = await startProviderSignIn({ slug, intent, next }, person?.actor, from);
    const { answer, ...callback } = changes;
    const parameters = issuer.respondTo(url, answer);
    return receiveCallback({ slug, parameters, browser, actor: person?.actor, sessionToken: person?.token, ...callback }, from);
  }

  async function pendingToken(...go: Parameters<typeof signInVia>): Promise<string> {
    const outcome = await signInVia(...go);
    if (outcome.step !== "pending") throw new Error(JSON.stringify(outcome));
    return outcome.token;
  }

  const as = (sub: string, more: Record<string, unknown> = {}) =>
    issuer.behave({ claims: (honest) => ({ ...honest, sub, email: `${sub}@upstream.test`, ...more }) });

  async function linked(one: IdentityProvider, sub: string): Promise<TestPerson> {
    as(sub);
    const person = await signedInPerson();
    await linkIdentity(person.actor, await pendingToken(one, { person, intent: "link" }), from);
    return person;
  }

  return { issuer, provider, signInVia, pendingToken, as, linked };
}
