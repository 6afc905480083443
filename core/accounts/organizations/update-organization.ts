import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { replaceImage } from "../../images/replace-image.ts";
import { displayText } from "../display-text.ts";
import { parseEmailAddress } from "../email-address.ts";
import { parseWebsite } from "../parse-website.ts";
import { ORGANIZATION_NAME_MAX_CHARACTERS } from "./create-organization.ts";
import { lockOrganization } from "./lock-organization.ts";

/** Absent values stay unchanged; an empty website or e-mail address and a null logo are removed. */
export type OrganizationChanges = {
  fullName?: string;
  website?: string;
  /** The organization's contact address; shown to others, never used to sign in. */
  email?: string;
  logo?: Uint8Array | null;
};

/** @throws ServiceError `forbidden`, `not_found`, `invalid_request`, `payload_too_large` */
export async function updateOrganization(
  actor: Actor,
  orgId: string,
  changes: OrganizationChanges,
  from: RequestOrigin,
): Promise<void> {
  await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization" });
  const data: { fullName?: string; website?: string | null; email?: string | null } = {};
  if (changes.fullName !== undefined) {
    data.fullName = displayText("fullName", changes.fullName, { maxCharacters: ORGANIZATION_NAME_MAX_CHARACTERS });
  }
  if (changes.website !== undefined) data.website = parseWebsite(changes.website);
  if (changes.email !== undefined) data.email = changes.email.trim() === "" ? null : parseEmailAddress(changes.email).address;
  const logo = changes.logo && (await encodeImage(changes.logo, "logo"));
  await db().$transaction(async (tx) => {
    await lockOrganization(tx, orgId);
    await requirePermission(actor, "organization.manage", { orgId }, { what: "Organization", tx });
    const before = await tx.organization.findUniqueOrThrow({ where: { id: orgId }, select: { avatarId: true } });
    const avatarId = logo === undefined ? before.avatarId : await replaceImage(tx, before.avatarId, logo);
    await tx.organization.update({ where: { id: orgId }, data: { ...data, avatarId } });
    await recordAuditEvent(tx, {
      type: "organization.update",
      actorId: actorId(actor),
      orgId,
      data: { ...data, ...(logo === undefined ? {} : { logo: logo ? "changed" : "removed" }) },
      from,
    });
  });
}
