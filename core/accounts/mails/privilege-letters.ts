import { type Letter, letter, link } from "./letter.ts";

type App = { id: string; name: string; clientId: string };
type Organization = { name: string; fullName: string };

/** To operators: an organization requests a privilege that only they can grant. */
export function privilegeRequestLetter({ name, clientId }: App, organization: Organization): Letter {
  return letter(`${organization.name} asks for token exchange`, "there", [
    `The organization ${organization.fullName} (${organization.name}) asks that its app ${name} may exchange tokens for its members. With it, whoever holds the app's secret can act for any member within the organization.`,
    "To look at the app and decide:",
    link(`/admin/apps?search=${encodeURIComponent(clientId)}`),
  ]);
}

/** To the organization's administrators: their request was granted. */
export function privilegeGrantedLetter({ id, name }: App, organization: Organization): Letter {
  return letter(`${name} may exchange tokens for ${organization.name}`, "there", [
    `The operator gave the app ${name} the privilege to exchange tokens for members of ${organization.fullName}. A command to try it, the token duration and the scopes are on the app's page:`,
    link(`/organizations/${encodeURIComponent(organization.name)}/settings/applications/${id}`),
    "Keep its secret where only your server reads it: whoever has it can act for any member within the organization.",
  ]);
}
