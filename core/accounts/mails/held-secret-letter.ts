import { type Letter, letter, link } from "./letter.ts";

type App = { id: string; name: string };

/** To an organization's administrators: a person who no longer is one of them knows the secret of an app that acts for its members. */
export function heldSecretLetter(app: App, owner: string, organization: { name: string; fullName: string }): Letter {
  return letter(`${owner} still knows the secret of ${app.name}`, "there", [
    `${owner} is no administrator of ${organization.fullName} any more, and owns the app ${app.name}, which is bound to it. Whoever has its secret can exchange tokens for members of the organization, and ${owner} may have kept it.`,
    "Refresh the secret, so that no more tokens are exchanged with the old one; those that are out end at their time. Or unbind the app, which ends all of them at once:",
    link(`/organizations/${encodeURIComponent(organization.name)}/settings/applications/${app.id}`),
  ]);
}
