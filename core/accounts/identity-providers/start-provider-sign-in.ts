import type { Person } from "#core/access/actor.ts";
import { may, requirePermission } from "#core/access/may.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { hashToken, newToken } from "#core/crypto/token.ts";
import { db } from "#core/db.ts";
import { notFound, ServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { localPath } from "../local-path.ts";
import { issueOneTimeToken, type ProviderSignInIntent } from "../one-time-token.ts";
import { consumeAddressThrottle } from "../throttle.ts";
import { discoverIssuer } from "./discover-issuer.ts";
import { ProviderUnreachable } from "./fetch-from-provider.ts";
import { githubEndpoints } from "./identify-by-github.ts";
import {
  findIdentityProvider,
  type IdentityProvider,
  isOrganizationSlug,
  kindDefaults,
  redirectUriOf,
} from "./identity-provider.ts";
import { requireProvidersOnly } from "./linked-identities.ts";
import { codeChallengeOf, type Flow, nonceOf } from "./sign-in-flow.ts";

const START_LIMIT = { limit: 60, windowSeconds: 10 * 60 };

const BROWSER_SECRET = /^[A-Za-z0-9_-]{43}$/;

export type SignInElsewhere = {
  slug: string;
  intent: ProviderSignInIntent;
  next: string;
  /** The secret that the browser already has. It is used again, because several sign-ins may be pending. */
  browser?: string | undefined;
};

/** For non-members, an organization's issuer is `not_found`. */
export async function startProviderSignIn(
  input: SignInElsewhere,
  actor: Person | undefined,
  from: RequestOrigin,
): Promise<{ url: string; browser: string }> {
  // Only members may learn whether an organization has an issuer (S136).
  if (!actor && isOrganizationSlug(input.slug)) throw new ServiceError("unauthorized", "Sign in here first.");
  const provider = await findIdentityProvider(input.slug);
  if (!provider || provider.disabledAt) throw notFound("Identity provider");
  // Nobody signs in with an organization's issuer. See `IdentityProvider.orgId`.
  const intent = provider.orgId === null ? input.intent : "link";
  if (intent !== "sign-in") await requireEntitled(provider, intent, actor);
  await consumeAddressThrottle("sign-in-elsewhere", from.ip, START_LIMIT);

  const endpoint = await authorizationEndpoint(provider);
  const browser = input.browser && BROWSER_SECRET.test(input.browser) ? input.browser : newToken();
  const state = await issueOneTimeToken(db(), {
    purpose: "sign-in-elsewhere",
    ...(intent !== "sign-in" && actor ? { userId: actor.userId } : {}),
    // The subject is unique, because several sign-ins may be pending at once.
    subject: newId(),
    data: {
      providerId: provider.id,
      intent,
      browserHash: hashToken(browser),
      next: localPath(input.next) ?? "/",
      startedAt: Date.now(),
    },
  });
  return { url: authorizationUrl(endpoint, provider, intent, { state, browser }), browser };
}

async function requireEntitled(
  provider: IdentityProvider,
  intent: ProviderSignInIntent,
  actor: Person | undefined,
): Promise<void> {
  if (!actor) throw new ServiceError("unauthorized", "Sign in here first.");
  const { orgId } = provider;
  if (orgId !== null) {
    if (!(await may(actor, "organization.read_membership", { orgId }))) throw notFound("Identity provider");
  } else if (intent === "link") {
    await requirePermission(actor, "linked_identity.link", { userId: actor.userId }, { what: "User" });
  } else {
    await requireProvidersOnly(actor.userId);
  }
}

function authorizationUrl(endpoint: string, provider: IdentityProvider, intent: ProviderSignInIntent, flow: Flow): string {
  const url = new URL(endpoint);
  const parameters: Record<string, string> = {
    client_id: provider.clientId,
    redirect_uri: redirectUriOf(provider.slug),
    response_type: "code",
    scope: provider.scopes.join(" "),
    state: flow.state,
    code_challenge: codeChallengeOf(flow),
    code_challenge_method: "S256",
  };
  if (provider.kind !== "github") parameters.nonce = nonceOf(flow);
  if (intent === "reauthenticate") {
    // OpenID Connect Core §3.1.2.1.
    if (kindDefaults[provider.kind].canReauthenticate) Object.assign(parameters, { prompt: "login", max_age: "0" });
    else parameters.prompt = "select_account";
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function authorizationEndpoint(provider: IdentityProvider): Promise<string> {
  if (provider.kind === "github") return githubEndpoints(provider.issuer).metadata.authorization_endpoint;
  try {
    const { metadata } = await discoverIssuer(provider);
    return metadata.authorization_endpoint as string;
  } catch (cause) {
    if (!(cause instanceof ProviderUnreachable || cause instanceof ServiceError)) throw cause;
    throw new ServiceError("unavailable", `${provider.name} cannot be reached at the moment.`, { cause });
  }
}
