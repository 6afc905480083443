import type { OrganizationRole, Scope, SecurityRestriction } from "@keyhook/sdk";
import { ServiceError, type WireCode } from "../errors.ts";
import type { Actor } from "./actor.ts";

export type Missing =
  | { missing: Scope }
  | { role: OrganizationRole; least: OrganizationRole }
  | { restrictions: readonly SecurityRestriction[] }
  /** The app was not granted the organization, or the organization does not allow the app. */
  | { ungranted: string }
  | { noToken: keyof typeof noTokenSentences };

export function refused(actor: Actor, decision: "refused" | Missing, wireCode?: WireCode): ServiceError {
  if (decision === "refused") return new ServiceError("forbidden", sentenceFor(actor), { wireCode });
  if ("missing" in decision) {
    const { missing: scope } = decision;
    return new ServiceError("insufficient_scope", `The token lacks the scope ${scope}.`, { scope, wireCode });
  }
  if ("role" in decision) {
    const { role, least } = decision;
    const sentence = `This requires the ${least} role in the organization; yours is ${role}. Ask an administrator of the organization.`;
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

/** See docs/specification/errors-and-limits.md#headers. */
export function refusedContent(actor: Actor, decision: "refused" | Missing): ServiceError {
  const wireCode = "GatedRepo";
  const ask = "Access to this repository is restricted. The repository's page says how to get access.";
  if (decision === "refused" || "role" in decision) return new ServiceError("forbidden", ask, { wireCode });
  if (!("ungranted" in decision)) return refused(actor, decision, wireCode);
  const { ungranted: orgId } = decision;
  return new ServiceError("forbidden", `${ask} ${FOR_MEMBERS}`, { requires: { orgId }, wireCode });
}

const FOR_MEMBERS = "If you are a member of its organization, select the organization when you sign in to the app.";

function sentenceFor({ kind }: Actor): string {
  if (kind === "publisher")
    return "This token belongs to a CI job: it can read and write only the repository that trusts the job.";
  const who =
    kind === "token" ? "Either you or this token lacks permission to do this." : "You do not have permission to do this.";
  return `${who} Ask the owner, or an administrator of the organization that owns it, for permission.`;
}

const UNGRANTED =
  "The app has no access to this organization. If you are a member, sign in to the app again and select the organization; " +
  "if you cannot select it, its administrators do not allow the app.";

const noTokenSentences = {
  any: "No token can do this. Sign in and do it on the website.",
  "of an app":
    "No scope lets an app do this to an organization's resources. Use a personal access token, or a token exchanged for the organization.",
  exchanged:
    "This token acts within one organization. Outside it, it can only read public content, and gated repositories that its user has access to.",
  "own programs":
    "Only a personal access token or the service's own command line can do this. Other apps and exchanged tokens cannot.",
  reading: "This token belongs to a CI job: it can only read the gated repositories that its user has access to.",
} as const;

const demands: Record<SecurityRestriction, string> = {
  mfa: "The organization requires a second step at sign-in: set one up in your account settings.",
  sso: "The organization requires its members to sign in with its issuer: do so on the organization's page.",
  "token-revoked": "An administrator has blocked this token from the organization. Ask why before you use another one.",
};
