import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { ServiceError } from "../../errors.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { replaceImage } from "../../images/replace-image.ts";
import { parseWebsite } from "../parse-website.ts";
import { parseFullName } from "./new-user-fields.ts";

/** Absent values stay unchanged; an empty website and a null avatar are removed. */
export type ProfileChanges = { fullName?: string; website?: string; avatar?: Uint8Array | null };

/** @throws ServiceError `invalid_request`, `payload_too_large`, `not_found` */
export async function updateProfile(actor: Actor, userId: string, changes: ProfileChanges, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.update", { userId }, { what: "User" });
  const data: { fullName?: string; website?: string | null } = {};
  if (changes.fullName !== undefined) {
    data.fullName = parseFullName(changes.fullName);
    if (!data.fullName) throw new ServiceError("invalid_request", "Enter your name.", { field: "fullName" });
  }
  if (changes.website !== undefined) data.website = parseWebsite(changes.website);
  const avatar = changes.avatar && (await encodeImage(changes.avatar, "avatar"));
  await db().$transaction(async (tx) => {
    // Locked, so that two concurrent avatars do not leave one behind without an owner.
    const [before] = await tx.$queryRaw<{ avatarId: string | null; fullName: string; website: string | null }[]>`
      SELECT avatar_id AS "avatarId", full_name AS "fullName", website FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
    if (!before) throw new ServiceError("not_found", "User not found");
    const { fullName, website } = { ...before, ...data };
    if (avatar === undefined && fullName === before.fullName && website === before.website) return;
    const avatarId = avatar === undefined ? before.avatarId : await replaceImage(tx, before.avatarId, avatar);
    await tx.user.update({ where: { id: userId }, data: { ...data, avatarId } });
    await recordAuditEvent(tx, {
      type: "user.update_profile",
      actorId: actorId(actor),
      subjectId: userId,
      data: { ...data, ...(avatar === undefined ? {} : { avatar: avatar ? "changed" : "removed" }) },
      from,
    });
  });
}
