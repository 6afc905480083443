import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { checkAll } from "../../errors.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { replaceImage } from "../../images/stored-image.ts";
import { parseEmailAddress } from "../email-address.ts";
import { parseWebsite } from "../parse-website.ts";
import { displayText } from "../plain-text.ts";
import { changeOrganization } from "./change-organization.ts";
import { ORGANIZATION_NAME_MAX_CHARACTERS } from "./create-organization.ts";

/** An empty website, an empty email address or a null logo removes the value. */
type OrganizationChanges = {
  fullName?: string;
  website?: string;
  /** The address is shown to others, and is never used to sign in. */
  email?: string;
  logo?: Uint8Array | null;
};

export async function updateOrganization(
  actor: Actor,
  orgId: string,
  changes: OrganizationChanges,
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const { fullName, website, email } = changes;
  const { logo, ...data } = await checkAll({
    ...(fullName !== undefined && {
      fullName: () => displayText("fullName", fullName, { maxCharacters: ORGANIZATION_NAME_MAX_CHARACTERS }),
    }),
    ...(website !== undefined && { website: () => parseWebsite(website) }),
    ...(email !== undefined && { email: () => (email.trim() === "" ? null : parseEmailAddress(email).address) }),
    logo: () => changes.logo && encodeImage(changes.logo, "logo"),
  });
  await changeOrganization(actor, { orgId, action: "organization.manage", from }, async (tx, record) => {
    const before = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { avatarId: true } });
    const avatarId = logo === undefined ? before.avatarId : await replaceImage(tx, before.avatarId, logo);
    await tx.organization.update({ where: { id: orgId }, data: { ...data, avatarId } });
    await record({
      type: "organization.update",
      data: { ...data, ...(logo === undefined ? {} : { logo: logo ? "changed" : "removed" }) },
    });
  });
}
