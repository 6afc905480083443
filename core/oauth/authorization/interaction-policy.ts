import { interactionPolicy, type KoaContextWithOIDC } from "oidc-provider";
import { isRedirectUriBoundToClient } from "../clients/client-identity.ts";
import { findConsent, isConsentEnough } from "../consents/find-consent.ts";
import { prepareGrant } from "../consents/load-existing-grant.ts";

export function buildInteractionPolicy() {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  const consent = policy.get("consent");
  if (!consent) throw new Error("the engine has no consent prompt");

  consent.checks.remove("native_client_prompt");

  consent.checks.add(
    new Check(
      "identity_not_assured",
      "a client that only redirects within the device needs consent each time",
      "consent_required",
      (ctx: KoaContextWithOIDC) => {
        const { client, params, result } = ctx.oidc;
        if (result?.consent || !client || client.clientAuthMethod !== "none") return Check.NO_NEED_TO_PROMPT;
        // RFC 8252 §8.6: any app on the device can receive a code at a loopback port or a private-use scheme (S29).
        return isRedirectUriBoundToClient(String(params?.redirect_uri)) ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
      },
    ),
  );

  consent.checks.add(
    new Check(
      "consent_not_enough",
      "the user has not consented to this client, its scopes or its organizations",
      "consent_required",
      async (ctx: KoaContextWithOIDC) => {
        const { client, account, result, params } = ctx.oidc;
        if (result?.consent || !client || !account) return Check.NO_NEED_TO_PROMPT;
        const found = await findConsent(ctx, account.accountId, client.clientId);
        if (!found) return Check.REQUEST_PROMPT;
        return (await isConsentEnough(found, client, params ?? {})) ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
      },
    ),
  );

  // The consent page offers another account (S26), so `select_account` (OIDC Core §3.1.2.1) leads to the consent prompt. The engine
  // accepts only registered prompts.
  const selectAccount = new Prompt({ name: "select_account", requestable: true });
  selectAccount.checks.remove("select_account_prompt");
  policy.add(selectAccount);
  consent.checks.add(
    new Check(
      "account_not_selected",
      "the account has to be chosen",
      "account_selection_required",
      ({ oidc }: KoaContextWithOIDC) =>
        !oidc.result?.consent && oidc.prompts.has("select_account") ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    ),
  );

  const grant = new Prompt(
    { name: "grant", requestable: false },
    new Check("grant_not_stored", "the grant could not be stored", "server_error", async (ctx: KoaContextWithOIDC) => {
      await prepareGrant(ctx);
      return Check.NO_NEED_TO_PROMPT;
    }),
  );
  policy.add(grant, policy.length);
  return policy;
}
