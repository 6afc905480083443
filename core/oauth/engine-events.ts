import type { ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import type { errors, KoaContextWithOIDC } from "oidc-provider";
import { isDatabaseDown } from "#core/db.ts";
import { log } from "#core/log.ts";
import { askBeforeLogout, endSiteSessionWithLogout } from "./logout.ts";
import { mendAnswer } from "./mend-answer.ts";
import { pageHeaders } from "./pages/layout.ts";
import { isPersonEndpoint } from "./protocol-routes.ts";
import { countAuthorization, countToken } from "./usage.ts";

/** Our additions around the engine's work: responses corrected, failures logged, use counted. */
export function watchEngine(provider: Provider): void {
  provider.on("server_error", (ctx, error) => {
    ctx.state.isDatabaseDown = isDatabaseDown(error);
    if (!ctx.state.isDatabaseDown) log().error({ err: error }, "the engine failed");
  });
  provider.on("backchannel.error", (_ctx, error, client) =>
    log().error({ err: error, clientId: client.clientId }, "a logout notice could not be queued"),
  );
  provider.on("authorization.error", keepUnopenedRequest);
  provider.on("authorization.success", (ctx) => countAuthorization(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.on("grant.success", (ctx) => countToken(ctx.oidc.client?.clientId, ctx.oidc.account?.accountId));
  provider.use(handOverFailure);
  provider.use(protectPage);
  provider.use(askBeforeLogout);
  provider.use(endSiteSessionWithLogout);
  provider.use(mendAnswer);
}

/**
 * A pushed request that has expired, was made up or is another client's is never opened: its redirect URI and `state` are unknown, or must
 * not be revealed. The user sees that on a page; the app is not told at its only redirect URI.
 */
function keepUnopenedRequest({ oidc }: KoaContextWithOIDC, error: errors.OIDCProviderError): void {
  const isUnopened = oidc.route === "authorization" && oidc.params?.request_uri !== undefined;
  if (isUnopened && /^invalid_request_(uri|object)$/.test(error.error)) error.allow_redirect = false;
}

const failures = new WeakMap<ServerResponse, unknown>();

/** A failure outside the engine's own error handling; returned once, to the code that responds instead. */
export function takeFailure(res: ServerResponse): unknown {
  const failure = failures.get(res);
  failures.delete(res);
  return failure;
}

/** For example, if a session cannot be saved: the server below the engine would send its own 500. */
async function handOverFailure(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    ctx.respond = false;
    failures.set(ctx.res, error);
  }
}

/** Before the engine responds: it reads the policy to allow its own script (S23). */
async function protectPage(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  if (isPersonEndpoint(ctx.path)) ctx.set(pageHeaders);
  await next();
}
