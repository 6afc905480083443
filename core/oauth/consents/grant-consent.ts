import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAboutSomebody } from "#core/audit/record-about-somebody.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { db, inTransaction } from "#core/db.ts";
import { invalidRequest, ServiceError } from "#core/errors.ts";
import { insertGrant } from "../artifacts/grant-store.ts";
import { saveInteractionResult } from "../artifacts/interaction-store.ts";
import {
  ANOTHER_ACCOUNT,
  answerInteraction,
  type Interaction,
  type InteractionCookies,
  readInteraction,
} from "../authorization/interaction.ts";
import { currentProvider } from "../provider.ts";
import { readConsentRequest } from "./consent-request.ts";
import { fillGrant } from "./load-existing-grant.ts";
import { assertAsked, type ConsentAnswer, storeAnswer } from "./store-answer.ts";

/**
 * @returns the URL at which the browser continues
 * @throws ServiceError `invalid_request` if the answer contains something that was not requested (S33)
 * @throws ServiceError `forbidden` if another account is signed in (S25, S34)
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
  const provider = await currentProvider();
  await inTransaction(async (tx) => {
    const choice = await storeAnswer(tx, owner, request, answer, from);
    const grant = new provider.Grant({ accountId: owner.userId, clientId: owner.clientId });
    fillGrant(grant, choice, interaction.params.redirect_uri);
    const consent = { grantId: await insertGrant(tx, grant) };
    await saveInteractionResult(tx, at.uid, { ...interaction.lastSubmission, consent });
  });
  return interaction.returnTo;
}

/** The page must have been shown to the account that is signed in now (S25, S34). */
function assertAnswerable({ prompt, session }: Interaction, accountId: string, shownAccountId: string): void {
  if (prompt.name !== "consent") throw invalidRequest("Sign in first.");
  if (session?.accountId === accountId && shownAccountId === accountId) return;
  throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
}

/**
 * See S18, docs/decisions/006.
 * @param session undefined if nobody is signed in yet
 * @throws ServiceError `forbidden` if another account is signed in (S25)
 */
export async function denyConsent(
  at: InteractionCookies,
  session: SiteSession | undefined,
  from: RequestOrigin,
): Promise<string> {
  const interaction = await readInteraction(at);
  const known = interaction.session?.accountId;
  if (known && known !== session?.user.id) throw new ServiceError("forbidden", ANOTHER_ACCOUNT);
  const url = await answerInteraction(at, { error: "access_denied", error_description: "the user denied the request" });
  // `answerInteraction` throws after an earlier answer. Without a session no entry is written, because strangers could fill the
  // log (S144).
  const clientId = String(interaction.params.client_id);
  if (!session) return url;
  const userId = session.user.id;
  await recordAboutSomebody(db(), { type: "oauth_consent.deny", actorId: userId, subjectId: userId, clientId, from });
  return url;
}
