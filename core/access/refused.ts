import type { OrganizationRole, Scope, SecurityRestriction } from "@keyhook/sdk";
import { ServiceError, type WireCode } from "../errors.ts";
import type { Actor } from "./actor.ts";

/** What the actor lacks and would be allowed with; or that no token of this kind may do it, whatever its scopes. */
export type Missing =
  | { missing: Scope }
  | { role: OrganizationRole; least: OrganizationRole }
  | { restrictions: readonly SecurityRestriction[] }
  /** The organization that was not granted to the app, or that does not allow it. */
  | { ungranted: string }
  | { noToken: keyof typeof noTokenSentences };

/** A 403 that names what is missing: in words for people, in `requires` for programs. */
export function refused(actor: Actor, decision: "refused" | Missing, wireCode?: WireCode): ServiceError {
  if (decision === "refused") return new ServiceError("forbidden", sentenceFor(actor), { wireCode });
  if ("missing" in decision) {
    const { missing: scope } = decision;
    return new ServiceError("insufficient_scope", `The token lacks the scope ${scope}.`, { scope, wireCode });
  }
  if ("role" in decision) {
    const { role, least } = decision;
    const sentence = `This takes the role ${least} in the organization; yours is ${role}. Ask an administrator of the organization for it.`;
    return new ServiceError("forbidden", sentence, { requires: { role: least }, wireCode });
  }
  if ("ungranted" in decision) {
    return new ServiceError("forbidden", UNGRANTED, { requires: { orgId: decision.ungranted }, wireCode });
  }
  if ("noToken" in decision) return new ServiceError("forbidden", noTokenSentences[decision.noToken], { wireCode });
  const { restrictions } = decision;
  const sentences = restrictions.map((restriction) => demands[restriction]).join(" ");
  return new ServiceError("forbidden", sentences, { requires: { securityRestrictions: restrictions }, wireCode });
}

/** The same for a gated repository's content, to which users can request access (docs/specification/errors-and-limits.md#headers). */
export function refusedContent(actor: Actor, decision: "refused" | Missing): ServiceError {
  const wireCode = "GatedRepo";
  const ask = "Access to this repository is restricted. Ask for it on the repository's page.";
  if (decision === "refused" || "role" in decision) return new ServiceError("forbidden", ask, { wireCode });
  if (!("ungranted" in decision)) return refused(actor, decision, wireCode);
  const { ungranted: orgId } = decision;
  return new ServiceError("forbidden", `${ask} ${FOR_MEMBERS}`, { requires: { orgId }, wireCode });
}

const FOR_MEMBERS = "Members of the organization can choose it when they sign in to the app.";

function sentenceFor({ kind }: Actor): string {
  if (kind === "publisher")
    return "This token is a CI job's: it reads and writes the one repository that trusts the job, and no other.";
  // For a token it may be either: the user lacks the right, or no token of its kind can be used for it.
  const who = kind === "token" ? "You, or this token, may not do this." : "You may not do this.";
  return `${who} Ask an administrator for the right.`;
}

const UNGRANTED =
  "The app does not reach this organization. As a member, sign in to the app again and choose the organization there; " +
  "where it is not offered, its administrators do not admit the app.";

const noTokenSentences = {
  any: "No token can do this. Sign in and do it on the pages of this service.",
  "of an app":
    "No scope lets an app do this to what an organization owns. Use a token of your own, or one exchanged for the organization.",
  exchanged: "This token acts within one organization: outside it, it reads what is public and nothing more.",
  "own programs":
    "Apps are managed with a token of your own, or by the service's own command line: no app may do it for you, nor a token that was exchanged.",
  reading: "This token is a CI job's that reads what its person was let into, and nothing more.",
} as const;

/** What a member is told for each requirement that they do not meet. */
const demands: Record<SecurityRestriction, string> = {
  mfa: "The organization asks its members to sign in in two steps: set up a second step in your account's settings.",
  sso: "The organization asks its members to sign in with its own provider: do so on the organization's page.",
  "token-revoked": "An administrator has cut this token off from the organization. Make another one.",
};
