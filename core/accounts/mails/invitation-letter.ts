import type { OrganizationRole } from "@keyhook/sdk";
import { env } from "../../env.ts";
import { type Letter, letter, link } from "./letter.ts";

type Invited = { organization: string; invitedBy: string; role: OrganizationRole; token: string };

/** The recipient may have no account yet, so the greeting has no name. */
export function invitationLetter({ organization, invitedBy, role, token }: Invited): Letter {
  const { BRAND_NAME } = env();
  return letter(`Join ${organization} on ${BRAND_NAME}`, "there", [
    `${invitedBy} invites you to the organization ${organization} on ${BRAND_NAME}, with the role "${role}". The link works for 7 days:`,
    link(`/invitations/${token}`),
    "If you do not know them, do nothing.",
  ]);
}
