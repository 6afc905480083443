import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { inTransaction } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import {
  ANOTHER_ACCOUNT,
  answerInteraction,
  type Interaction,
  type InteractionCookies,
  readInteraction,
} from "../interaction.ts";
import { fillGrant } from "../load-existing-grant.ts";
import { currentProvider } from "../provider.ts";
import { assertAsked } from "./assert-asked.ts";
import { readConsentRequest } from "./consent-request.ts";
import type { ConsentAnswer } from "./merge-answer.ts";
import { storeAnswer } from "./store-answer.ts";

/**
 * Stores what the user allowed and lets the engine continue.
 * @returns the URL at which the browser continues.
 * @throws ServiceError `gone` for an interaction that is over; `invalid_request` for an answer to something that was not asked (S33);
 * `forbidden` if another account is signed in by now (S25, S34).
 */
export async function grantConsent(
  at: InteractionCookies,
  session: SiteSession,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<string> {
  const interaction = await readInteraction(at);
  assertAnswerable(interaction, session.user.id, answer.accountId);
  const request = await readConsentRequest(interaction.params, session);
  assertAsked(request, answer);
  const owner = { userId: session.user.id, clientId: request.app.clientId };
  const choice = await inTransaction((tx) => storeAnswer(tx, owner, request, answer, from));
  const provider = await currentProvider();
  const grant = new provider.Grant({ accountId: owner.userId, clientId: owner.clientId });
  fillGrant(grant, choice, interaction.params.redirect_uri);
  return answerInteraction(at, { consent: { grantId: await grant.save() } });
}

/** Asserts that the page was about consent, and was shown to the account that is signed in now (S25, S34). */
function assertAnswerable({ prompt, session }: Interaction, accountId: string, shownAccountId: string): void {
  if (prompt.name !== "consent") throw new ServiceError("invalid_request", "Sign in first.");
  if (session?.accountId === accountId && shownAccountId === accountId) return;
  throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
}
