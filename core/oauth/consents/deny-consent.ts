import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { ANOTHER_ACCOUNT, answerInteraction, type InteractionCookies, readInteraction } from "../interaction.ts";

/**
 * Denies the request; the app gets `access_denied` at its redirect URI (S18; docs/decisions/006). Nothing is stored: an earlier consent
 * stays unchanged.
 * @param session undefined if nobody is signed in, as on the way to the sign-in page.
 * @throws ServiceError `gone` for an interaction that is over; `forbidden` if it belongs to another account (S25).
 */
export async function denyConsent(
  at: InteractionCookies,
  session: SiteSession | undefined,
  from: RequestOrigin,
): Promise<string> {
  const interaction = await readInteraction(at);
  const known = interaction.session?.accountId;
  if (known && known !== session?.user.id) throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
  const url = await answerInteraction(at, { error: "access_denied", error_description: "the request was refused by the user" });
  // After the answer, which is possible only once. A denial by nobody is not recorded: strangers could fill the log with them (S144).
  const clientId = String(interaction.params.client_id);
  if (!session) return url;
  const userId = session.user.id;
  await recordAboutSomebody(db(), { type: "oauth_consent.deny", actorId: userId, subjectId: userId, clientId, from });
  return url;
}
