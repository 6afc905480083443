import { compactVerify, decodeProtectedHeader } from "jose";
import { type Client, errors, type KoaContextWithOIDC } from "oidc-provider";
import { keyStoreOf } from "./provider-internals.ts";

/** Long enough for every library's default. Longer-lived assertions would have to be remembered longer (RFC 7523 §3). */
export const ASSERTION_MAX_SECONDS = 3600;

type Claims = Record<string, unknown>;

/**
 * Checks what we require of a client assertion beyond RFC 7523, after the engine has verified its signature, issuer and times. The engine
 * then ensures that it is used only once.
 * @throws InvalidClientAuth, which does not tell the sender the reason.
 */
export async function checkClientAssertion(
  ctx: KoaContextWithOIDC,
  claims: Claims,
  _header: Claims,
  client: Client,
): Promise<void> {
  const { exp, aud } = claims;
  if (Number(exp) > Date.now() / 1000 + ASSERTION_MAX_SECONDS + 60) throw new errors.InvalidClientAuth("exp is too far away");
  // Another server could replay to us an assertion that is also meant for it (RFC 7523 §3; draft-ietf-oauth-rfc7523bis §4).
  const ours = ctx.oidc.clientJwtAuthExpectedAudience();
  if (![aud].flat().every((each) => ours.has(String(each)))) throw new errors.InvalidClientAuth("aud names somebody else");
  await checkKeyIsStillThere(String(ctx.oidc.params?.client_assertion), client);
}

/**
 * The engine fetches a client's `jwks_uri` again only if no known key fits, so a key that the client removed would be valid forever. Here a
 * stale key set is fetched again, and the signature must verify with that too.
 */
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
  throw new errors.InvalidClientAuth("signed with a key that the client has taken away");
}
