import { compactVerify, decodeProtectedHeader } from "jose";
import { type Client, errors, type KoaContextWithOIDC } from "oidc-provider";
import { keyStoreOf } from "./provider-internals.ts";

/** Long enough for every library's default; what lives longer would have to be remembered as long (RFC 7523 §3). */
export const ASSERTION_MAX_SECONDS = 3600;

type Claims = Record<string, unknown>;

/**
 * What we ask of a client assertion beyond RFC 7523, once the engine has found its signature, issuer and time good. The
 * engine then sees to it that it is used once.
 * @throws InvalidClientAuth, which says nothing of the reason to whoever sent it.
 */
export async function checkClientAssertion(
  ctx: KoaContextWithOIDC,
  claims: Claims,
  _header: Claims,
  client: Client,
): Promise<void> {
  const { exp, aud } = claims;
  if (Number(exp) > Date.now() / 1000 + ASSERTION_MAX_SECONDS + 60) throw new errors.InvalidClientAuth("exp is too far away");
  // One that is also meant for another server could be sent on by it (RFC 7523 §3; draft-ietf-oauth-rfc7523bis §4).
  const ours = ctx.oidc.clientJwtAuthExpectedAudience();
  if (![aud].flat().every((each) => ours.has(String(each)))) throw new errors.InvalidClientAuth("aud names somebody else");
  await checkKeyIsStillThere(String(ctx.oidc.params?.client_assertion), client);
}

/**
 * The engine asks a client's `jwks_uri` again only when no key that it knows fits, so that a key which the client has taken away
 * would be good for ever. Here what is no longer fresh is read anew, and the signature must be good by that too.
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
