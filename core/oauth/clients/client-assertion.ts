import { compactVerify, decodeProtectedHeader } from "jose";
import { type Client, errors, type KoaContextWithOIDC } from "oidc-provider";
import { isFapiAlgorithm } from "../apps/fapi-profile.ts";
import { ASSERTIONS_OF_ADDRESS, ASSERTIONS_OF_CLIENT, countStoredRequest } from "../authorization/prepare-authorization.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../lifetimes.ts";
import { keyStoreOf } from "../provider-internals.ts";
import { clientExtension } from "./client-extension.ts";

/** An assertion is remembered until it expires, so its lifetime is limited (RFC 7523 §3). */
const ASSERTION_MAX_SECONDS = 3600;

/** The limit is lower for clients without an owner, because anybody can create any number of them (S143). */
const OWNERLESS_MAX_SECONDS = 300;

type Claims = Record<string, unknown>;

/** The engine has already verified signature, issuer and times (RFC 7523). */
export async function checkClientAssertion(
  ctx: KoaContextWithOIDC,
  claims: Claims,
  { alg }: Claims,
  client: Client,
): Promise<void> {
  const { exp, aud, iat } = claims;
  const { isOwnerless, isFapi } = clientExtension(client);
  // The engine checks `iat` only if there is no `exp`.
  if (Number(iat) > Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS) throw new errors.InvalidClientAuth("iat is in the future");
  if (isFapi) checkForFapi({ alg, aud }, ctx.oidc.issuer);
  const maxSeconds = isOwnerless ? OWNERLESS_MAX_SECONDS : ASSERTION_MAX_SECONDS;
  if (Number(exp) > Date.now() / 1000 + maxSeconds + 60) throw new errors.InvalidClientAuth("exp is too far in the future");
  // Another server that `aud` names could replay the assertion (RFC 7523 §3, draft-ietf-oauth-rfc7523bis §4).
  const ours = ctx.oidc.clientJwtAuthExpectedAudience();
  if (![aud].flat().every((each) => ours.has(String(each)))) throw new errors.InvalidClientAuth("aud is not this service");
  await checkKeyIsStillThere(String(ctx.oidc.params?.client_assertion), client);
  if (isOwnerless) await countStoredRequest(ctx, "client-assertion", "assertions", [ASSERTIONS_OF_CLIENT, ASSERTIONS_OF_ADDRESS]);
}

/** FAPI 2.0 Security Profile §5.3.2.1 and §5.4.1. */
function checkForFapi({ alg, aud }: Claims, issuer: string): void {
  if (!isFapiAlgorithm(alg)) throw new errors.InvalidClientAuth("alg is not an algorithm that FAPI 2.0 allows");
  if (aud !== issuer) throw new errors.InvalidClientAuth("aud must be the issuer, as a string");
}

/** The engine fetches a `jwks_uri` again only for an unknown key, so a removed key would stay valid. */
async function checkKeyIsStillThere(assertion: string, client: Client): Promise<void> {
  const store = keyStoreOf(client);
  if (store.fresh()) return;
  try {
    await store.refresh();
    const { alg = "", kid } = decodeProtectedHeader(assertion);
    for (const key of store.selectForVerify({ alg, kid })) {
      const isGood = await compactVerify(assertion, store.getKeyObject(key, true)).then(
        () => true,
        () => false,
      );
      if (isGood) return;
    }
  } catch (cause) {
    throw new errors.InvalidClientAuth({ cause });
  }
  throw new errors.InvalidClientAuth("signed with a key that the client has removed");
}
