import type { Scope } from "@keyhook/sdk";
import type { SiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { type Db, db } from "#core/db.ts";
import { ServiceError } from "#core/errors.ts";
import { newId } from "#core/ids.ts";
import { answerInteraction, type InteractionCookies, readInteraction } from "../interaction.ts";
import { fillGrant } from "../load-existing-grant.ts";
import { currentProvider } from "../provider.ts";
import { OFFLINE_ACCESS } from "../scopes.ts";
import { type ConsentRequest, readConsentRequest } from "./consent-request.ts";
import type { Consent } from "./find-consent.ts";

/** The form of the permissions modal as it was submitted. */
export type ConsentAnswer = {
  /** Ticked scopes; required ones count as ticked. */
  scopes: string[];
  /** Ticked organizations. */
  orgIds: string[];
  /** "All current and future organizations" (S32). */
  isAllOrgs: boolean;
  /** The account that the page showed. */
  accountId: string;
};

/**
 * Stores what the person allowed and lets the engine go on.
 * @returns the address at which the browser continues.
 * @throws ServiceError `gone` for an interaction that is over; `invalid_request` for an answer to something that was not asked
 * (S33); `forbidden` when another account is signed in by now (S25, S34).
 */
export async function grantConsent(
  at: InteractionCookies,
  session: SiteSession,
  answer: ConsentAnswer,
  from: RequestOrigin,
): Promise<string> {
  const interaction = await readInteraction(at);
  if (answer.accountId !== session.user.id || interaction.session?.accountId !== session.user.id) {
    throw new ServiceError("forbidden", "You are signed in with another account by now. Check the page and answer again.");
  }
  const request = await readConsentRequest(interaction, session);
  const chosen = checkAnswer(request, answer);
  await db().$transaction(async (tx) => {
    await storeConsent(tx, session.user.id, request, chosen);
    await recordAuditEvent(tx, {
      type: "oauth_consent.give",
      actorId: session.user.id,
      clientId: request.app.clientId,
      data: chosen,
      from,
    });
  });
  const provider = await currentProvider();
  const grant = new provider.Grant({ accountId: session.user.id, clientId: request.app.clientId });
  fillGrant(grant, chosen);
  return answerInteraction(at, { consent: { grantId: await grant.save() } });
}

type Chosen = Pick<Consent, "scopes" | "declinedScopes" | "orgIds" | "declinedOrgIds" | "isAllOrgs">;

/** Everything in the answer must have been on the page, and memberships are looked at again now (S31, S33). */
function checkAnswer(request: ConsentRequest, answer: ConsentAnswer): Chosen {
  const offered: string[] = request.scopes.map(({ scope }) => scope);
  const known = request.organizations.map(({ id }) => id);
  if (!isSubset(answer.scopes, offered) || !isSubset(answer.orgIds, known)) {
    throw new ServiceError("invalid_request", "The answer does not fit the question. Go back to the app and start again.");
  }
  const { standing } = request;
  const required = request.scopes.filter(({ isRequired }) => isRequired).map(({ scope }) => scope);
  const ticked = offered.filter((scope) => required.includes(scope as Scope) || answer.scopes.includes(scope));
  // What the page did not ask about stays as it was answered earlier.
  const kept = (scopes: string[] = []) => scopes.filter((scope) => !offered.includes(scope));
  const orgIds = answer.isAllOrgs ? known : unique(answer.orgIds);
  const asked = request.organizations.filter(({ isAskedFor }) => isAskedFor).map(({ id }) => id);
  return {
    scopes: unique([...kept(standing?.scopes), ...ticked, ...(request.isOfflineAsked ? [OFFLINE_ACCESS] : [])]),
    declinedScopes: unique([...kept(standing?.declinedScopes), ...offered.filter((scope) => !ticked.includes(scope))]),
    orgIds,
    declinedOrgIds: unique([...(standing?.declinedOrgIds ?? []), ...asked]).filter((id) => !orgIds.includes(id)),
    isAllOrgs: answer.isAllOrgs,
  };
}

const isSubset = (some: string[], all: string[]): boolean => some.every((each) => all.includes(each));
const unique = (list: string[]): string[] => [...new Set(list)];

/** One live consent for each person and client; the answer replaces the one before (docs/decisions/011). */
async function storeConsent(tx: Db, userId: string, request: ConsentRequest, chosen: Chosen): Promise<void> {
  const { clientId } = request.app;
  await tx.$executeRaw`
    INSERT INTO oauth_consent (id, user_id, client_id, scopes, declined_scopes, org_ids, declined_org_ids, is_all_orgs,
      client_fingerprint)
    VALUES (${newId()}, ${userId}, ${clientId}, ${chosen.scopes}, ${chosen.declinedScopes}, ${chosen.orgIds},
      ${chosen.declinedOrgIds}, ${chosen.isAllOrgs}, ${request.fingerprint})
    ON CONFLICT (user_id, client_id) WHERE revoked_at IS NULL DO UPDATE SET scopes = excluded.scopes,
      declined_scopes = excluded.declined_scopes, org_ids = excluded.org_ids, declined_org_ids = excluded.declined_org_ids,
      is_all_orgs = excluded.is_all_orgs, client_fingerprint = excluded.client_fingerprint, updated_at = now()`;
  // A person who unticks something takes it back at once, also from tokens that are out (S30). What the page did not show is
  // not taken back: an app that has changed its name is asked about anew, and those signed in stay signed in.
  await tx.$executeRaw`
    UPDATE oauth_grant g SET revoked_at = now() FROM oauth_consent c
    WHERE c.id = g.consent_id AND c.user_id = ${userId} AND c.client_id = ${clientId} AND c.revoked_at IS NULL
      AND g.revoked_at IS NULL
      AND ((NOT c.is_all_orgs AND (g.is_all_orgs OR NOT g.org_ids <@ c.org_ids))
        OR string_to_array(coalesce(g.payload #>> '{openid,scope}', ''), ' ') && c.declined_scopes)`;
}
