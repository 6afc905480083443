import { OFFLINE_ACCESS, supportedScopes } from "../scopes.ts";
import type { ConsentRequest } from "./consent-request.ts";
import type { Consent } from "./find-consent.ts";

/** What a user allows a client, and what they were asked for and declined. */
export type Choice = Pick<Consent, "scopes" | "declinedScopes" | "orgIds" | "declinedOrgIds" | "isAllOrgs" | "resources">;

/** The submitted form of the permissions modal. */
export type ConsentAnswer = {
  /** Ticked scopes; required ones count as ticked. */
  scopes: string[];
  /** Ticked organizations. */
  orgIds: string[];
  /** "All current and future organizations" (S32). */
  isAllOrgs: boolean;
  /** The account shown on the page. */
  accountId: string;
  /** The app's appearance on the page (`ConsentRequest.fingerprint`). */
  fingerprint: string;
};

/**
 * Merges the answer with earlier ones. A scope that was not asked about keeps its earlier answer; the page shows every organization and so
 * answers for all of them (docs/decisions/011).
 */
export function mergeAnswer(request: ConsentRequest, answer: ConsentAnswer, standing: Choice | undefined): Choice {
  const offered = new Set<string>(request.scopes.map(({ scope }) => scope));
  const required = request.scopes.filter(({ isRequired }) => isRequired).map(({ scope }) => scope);
  const ticked = new Set<string>([...answer.scopes, ...required, ...(request.isOfflineAsked ? [OFFLINE_ACCESS] : [])]);
  const isKept = (scope: string) => !offered.has(scope) && !ticked.has(scope);
  const open = request.organizations.filter(({ refusal }) => refusal === null);
  const closed = request.organizations.filter(({ refusal }) => refusal !== null);
  // The page cannot answer for an organization that does not allow the app at the moment: what was granted there stays unchanged.
  const kept = closed.filter(({ id }) => standing && !standing.isAllOrgs && standing.orgIds.includes(id));
  const chosen = answer.isAllOrgs ? open.map(({ id }) => id) : answer.orgIds;
  const orgIds = [...new Set([...chosen, ...kept.map(({ id }) => id)])];
  const askedOrgIds = open.filter(({ isAskedFor }) => isAskedFor).map(({ id }) => id);
  return {
    scopes: supportedScopes.filter((scope) => ticked.has(scope) || (isKept(scope) && standing?.scopes.includes(scope))),
    declinedScopes: supportedScopes.filter((scope) =>
      isKept(scope) ? standing?.declinedScopes.includes(scope) : !ticked.has(scope),
    ),
    orgIds,
    declinedOrgIds: [...new Set([...(standing?.declinedOrgIds ?? []), ...askedOrgIds])].filter((id) => !orgIds.includes(id)),
    isAllOrgs: answer.isAllOrgs,
    resources: [...new Set([...(standing?.resources ?? []), ...request.resources.map(({ identifier }) => identifier)])],
  };
}
