import { findBearer } from "../find-bearer.ts";
import { invalidRequest } from "./exchange-refusal.ts";

/** RFC 8693 §4.1: who acts for the subject; nested within, the previous acting party. */
export type ActingParty = { sub: string; client_id?: string; act?: ActingParty };

/** The longest chain of acting parties: a longer one is a loop, and every response would contain all of them. */
export const ACTING_PARTIES_MAX = 5;

/**
 * The party for which the actor token was issued: an access token that this client got for a user, or a personal access token. Another
 * client's token may not be used here, and a bound token requires its key (RFC 9449).
 * @throws ExchangeRefusal `invalid_request`, as RFC 8693 §2.2.2 requires for an actor token that is invalid or not accepted.
 */
export async function findActingParty(actorToken: string, clientId: string): Promise<ActingParty> {
  const bearer = await findBearer(actorToken, { scheme: "bearer" });
  if (!bearer || (bearer.kind === "oauth" && bearer.clientId !== clientId)) {
    throw invalidRequest("actor_token is not an access token of this app or of a person that is valid now", "invalid_actor");
  }
  const { account, act } = bearer;
  const party = { sub: account.id, ...(bearer.kind === "oauth" && { client_id: clientId }), ...(act && { act }) };
  if (partiesOf(party) > ACTING_PARTIES_MAX) {
    throw invalidRequest(`actor_token has more than ${ACTING_PARTIES_MAX} acting parties in a row`, "invalid_actor");
  }
  return party;
}

function partiesOf({ act }: ActingParty): number {
  return 1 + (act ? partiesOf(act) : 0);
}
