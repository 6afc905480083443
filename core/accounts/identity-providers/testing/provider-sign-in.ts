import { operatorCommand } from "#core/access/actor.ts";
import { freshName, from, signedInPerson, type TestPerson } from "../../testing/people.ts";
import type { IdentityProvider } from "../identity-provider.ts";
import { linkIdentity } from "../linked-identities.ts";
import { addIdentityProvider, type NewIdentityProvider } from "../manage-identity-providers.ts";
import { type Callback, receiveCallback } from "../receive-callback.ts";
import { type SignInElsewhere, startProviderSignIn } from "../start-provider-sign-in.ts";
import { startHandMadeIssuer } from "./hand-made-issuer.ts";

type Going = { person?: TestPerson; intent?: SignInElsewhere["intent"]; next?: string };
type Spoilt = Partial<Callback> & { answer?: Record<string, string | undefined> };

/** A controllable issuer, and the way there and back. */
export async function startElsewhere() {
  const issuer = await startHandMadeIssuer();

  async function provider(changes: Partial<NewIdentityProvider> = {}): Promise<IdentityProvider> {
    const input = { orgId: null, kind: "oidc", slug: freshName("p"), name: "Upstream", issuer: issuer.origin };
    return addIdentityProvider(operatorCommand, { ...input, clientId: "us", clientSecret: "s", ...changes }, from);
  }

  /** From the button to the response, which `spoilt` may alter. */
  async function goThrough(
    { slug }: { slug: string },
    { person, intent = "sign-in", next = "/after" }: Going = {},
    spoilt: Spoilt = {},
  ) {
    const { url, browser } = await startProviderSignIn({ slug, intent, next }, person?.actor, from);
    const { answer, ...callback } = spoilt;
    const parameters = issuer.respondTo(url, answer);
    return receiveCallback({ slug, parameters, browser, actor: person?.actor, sessionToken: person?.token, ...callback }, from);
  }

  async function pendingToken(...go: Parameters<typeof goThrough>): Promise<string> {
    const outcome = await goThrough(...go);
    if (outcome.step !== "pending") throw new Error(JSON.stringify(outcome));
    return outcome.token;
  }

  /** Sets who is signed in there from now on. */
  const as = (sub: string, more: Record<string, unknown> = {}) =>
    issuer.behave({ claims: (honest) => ({ ...honest, sub, email: `${sub}@upstream.test`, ...more }) });

  /** Somebody linked to a provider through its own pages. */
  async function linked(one: IdentityProvider, sub: string): Promise<TestPerson> {
    as(sub);
    const person = await signedInPerson();
    await linkIdentity(person.actor, await pendingToken(one, { person, intent: "link" }), from);
    return person;
  }

  return { issuer, provider, goThrough, pendingToken, as, linked };
}
