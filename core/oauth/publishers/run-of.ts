import type { JWTPayload } from "jose";
import { textOfClaim } from "#core/accounts/publishers/compare-claims.ts";
import { presets } from "#core/accounts/publishers/presets.ts";
import type { TrustedPublisher } from "#core/accounts/publishers/publisher.ts";

const MAX_CHARACTERS = 300;

/** Which run it was, in a few words of its token. */
export function runOf({ preset, issuer }: TrustedPublisher, claims: JWTPayload): string {
  const words = presets[preset].run.map((name) => textOfClaim(claims, name)).filter((text) => text !== undefined);
  const name = preset === "oidc" ? new URL(issuer).host : presets[preset].label;
  return [name, ...words].join(" ").replaceAll("\0", "").toWellFormed().slice(0, MAX_CHARACTERS);
}
