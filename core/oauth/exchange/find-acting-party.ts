import { findBearer } from "../find-bearer.ts";
import { invalidRequest } from "./exchange-refusal.ts";

/** RFC 8693 §4.1: who acts for the subject; the one who acted for them before within. */
export type ActingParty = { sub: string; client_id?: string; act?: ActingParty };

/** So many parties one after the other: whoever needs more has gone in a circle, and every answer would carry all of them. */
export const ACTING_PARTIES_MAX = 5;

/**
 * Whoever the actor token was issued for: an access token that this client was given for a person, or one that a person made for
 * themselves. That of another client is nobody's to show here, and one that is bound to a key does not pass without it (RFC 9449).
 * @throws ExchangeRefusal `invalid_request`, as RFC 8693 §2.2.2 has it for an actor token that is not valid or not accepted.
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
