import { isRoleAtLeast } from "@keyhook/sdk";
import { type Db, db, isTransaction } from "../db.ts";
import type { Person, TokenHolder } from "./actor.ts";
import { reachesOrganization } from "./may.ts";
import type { Rule } from "./rule.ts";
import { rules } from "./rules.ts";
import { standingsOf, withTokenRestrictions } from "./standing-in-organization.ts";

export type MembersAction = {
  [A in keyof typeof rules]: (typeof rules)[A] extends { role: string } ? A : never;
}[keyof typeof rules];

/** Does not check scopes. Leaves out organizations whose requirements the user does not meet. */
export async function organizationsOf(
  actor: Person | TokenHolder,
  action: MembersAction,
  { asCreator = false, tx = db() }: { asCreator?: boolean; tx?: Db } = {},
): Promise<string[]> {
  const standings = actor.kind === "token" && !isTransaction(tx) ? actor.standings : undefined;
  const { role, creator, beforeRestrictions }: Rule = rules[action];
  const least = asCreator ? (creator ?? role) : role;
  return [...(standings ?? (await standingsOf(actor.userId, tx)))].flatMap(([orgId, found]) => {
    const standing = withTokenRestrictions(actor, orgId, found);
    const isReached = actor.kind === "person" || reachesOrganization(actor, orgId);
    const isMet = beforeRestrictions === true || standing.restrictions.length === 0;
    return isReached && isMet && least && isRoleAtLeast(standing.role, least) ? [orgId] : [];
  });
}
