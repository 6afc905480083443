import type { OrganizationRole } from "@keyhook/sdk";
import { env } from "#core/env.ts";
import { composeEmail, type EmailContent, link } from "./compose-email.ts";

type Invited = { organization: string; invitedBy: string; role: OrganizationRole; token: string };

/** The recipient may have no account yet, so the greeting has no name. */
export function invitationEmail({ organization, invitedBy, role, token }: Invited): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`Join ${organization} on ${BRAND_NAME}`, "there", [
    `${invitedBy} invites you to join the organization ${organization} on ${BRAND_NAME} with the role "${role}". The link works for 7 days:`,
    link(`/invitations/${token}`),
    "If you do not know the sender, do nothing.",
  ]);
}

type HandedOver = { recipientName: string; by: string; organization: string };

export function handedOverEmail({ recipientName, by, organization }: HandedOver): EmailContent {
  return composeEmail(`The organization ${organization} on ${env().BRAND_NAME} was transferred to you`, recipientName, [
    `${by} has transferred the organization ${organization} to you. You are an administrator of it; ${by} no longer is.`,
    link(`/organizations/${organization}`),
  ]);
}

type App = { id: string; name: string };

export function heldSecretEmail(
  apps: readonly App[],
  holder: { username: string; isDisabled: boolean },
  organization: { name: string; fullName: string },
): EmailContent {
  const [first] = apps;
  const ended = holder.isDisabled
    ? `The account of ${holder.username}, an administrator of ${organization.fullName}, was disabled. ${holder.username}`
    : `${holder.username} is no longer an administrator of ${organization.fullName}, but`;
  const isOne = apps.length === 1;
  const what = isOne ? `secret or key of ${first?.name}` : `secrets or keys of ${apps.length} apps`;
  return composeEmail(`${holder.username} may still have the ${what}`, "there", [
    isOne
      ? `${ended} may still have the secret or private key of the app ${first?.name}, which is bound to the organization. Anyone who has the secret can get tokens for members of the organization; anyone who has the key can authenticate as the app.`
      : `${ended} may still have the secrets or private keys of apps that are bound to the organization. Anyone who has a secret can get tokens for members of the organization; anyone who has a key can authenticate as the app.`,
    isOne
      ? "Replace the secret or key, so that nobody can use the old one; existing tokens stay valid until they expire. Or unbind the app, which revokes all its exchanged tokens at once:"
      : "Replace each secret or key, so that nobody can use the old ones; existing tokens stay valid until they expire. Or unbind the apps, which revokes all their exchanged tokens at once:",
    ...apps.map(({ id, name }) =>
      [
        ...(isOne ? [] : [name]),
        link(`/organizations/${encodeURIComponent(organization.name)}/settings/applications/${id}`),
      ].join("\n"),
    ),
  ]);
}

type Deleted = {
  recipientName: string;
  organization: string;
  by: string | undefined;
};

export function organizationDeletedEmail({ recipientName, organization, by }: Deleted): EmailContent {
  const { BRAND_NAME } = env();
  return composeEmail(`The organization ${organization} was deleted`, recipientName, [
    `${by ?? `The operator of ${BRAND_NAME}`} has deleted the organization ${organization}, with its repositories, collections and OAuth apps. This cannot be undone.`,
    "You are receiving this e-mail because you were one of its administrators.",
  ]);
}
