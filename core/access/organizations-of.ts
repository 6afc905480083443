import { isRoleAtLeast } from "@keyhook/sdk";
import { type Db, db, isTransaction } from "../db.ts";
import type { Person, TokenHolder } from "./actor.ts";
import { reachesOrganization } from "./may.ts";
import { type Rule, rules } from "./rules.ts";
import { standingsOf, withTokenRestrictions } from "./standing-in-organization.ts";

/** What a member's role gives them a right to. */
export type MembersAction = {
  [A in keyof typeof rules]: (typeof rules)[A] extends { role: string } ? A : never;
}[keyof typeof rules];

/**
 * The organizations, by id, in which somebody's standing gives them a right: with a token those alone that it reaches, and none that
 * asks of its members what this one has not met. Scopes are not looked at.
 */
export async function organizationsOf(
  actor: Person | TokenHolder,
  action: MembersAction,
  { asMaker = false, tx = db() }: { asMaker?: boolean; tx?: Db } = {},
): Promise<string[]> {
  const standings = actor.kind === "token" && !isTransaction(tx) ? actor.standings : undefined;
  const { role, maker, beforeRestrictions }: Rule = rules[action];
  const least = asMaker ? (maker ?? role) : role;
  return [...(standings ?? (await standingsOf(actor.userId, tx)))].flatMap(([orgId, found]) => {
    const standing = withTokenRestrictions(actor, orgId, found);
    const isReached = actor.kind === "person" || reachesOrganization(actor, orgId);
    const isMet = beforeRestrictions === true || standing.restrictions.length === 0;
    return isReached && isMet && least && isRoleAtLeast(standing.role, least) ? [orgId] : [];
  });
}
