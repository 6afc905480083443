import type { Actor } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { checkAll, invalidRequest, ServiceError } from "../../errors.ts";
import { encodeImage } from "../../images/encode-image.ts";
import { replaceImage } from "../../images/stored-image.ts";
import { parseWebsite } from "../parse-website.ts";
import { parseFullName } from "./create-user.ts";

type ProfileChanges = { fullName?: string; website?: string; avatar?: Uint8Array | null };

export async function updateProfile(actor: Actor, userId: string, changes: ProfileChanges, from: RequestOrigin): Promise<void> {
  await requirePermission(actor, "user.update", { userId }, { what: "User" });
  const { fullName, website } = changes;
  const { avatar, ...data } = await checkAll({
    ...(fullName !== undefined && { fullName: () => requiredName(fullName) }),
    ...(website !== undefined && { website: () => parseWebsite(website) }),
    avatar: () => changes.avatar && encodeImage(changes.avatar, "avatar"),
  });
  await db().$transaction(async (tx) => {
    // Two concurrent changes must not leave an avatar without an owner.
    const [before] = await tx.$queryRaw<{ avatarId: string | null; fullName: string; website: string | null }[]>`
      SELECT avatar_id AS "avatarId", full_name AS "fullName", website FROM "user" WHERE id = ${userId} FOR NO KEY UPDATE`;
    if (!before) throw new ServiceError("not_found", "User not found");
    const after = { ...before, ...data };
    if (avatar === undefined && after.fullName === before.fullName && after.website === before.website) return;
    const avatarId = avatar === undefined ? before.avatarId : await replaceImage(tx, before.avatarId, avatar);
    await tx.user.update({ where: { id: userId }, data: { ...data, avatarId } });
    await recordAuditEvent(tx, {
      type: "user.update_profile",
      actor,
      subjectId: userId,
      data: { ...data, ...(avatar === undefined ? {} : { avatar: avatar ? "changed" : "removed" }) },
      from,
    });
  });
}

function requiredName(text: string): string {
  const name = parseFullName(text);
  if (!name) throw invalidRequest("Enter your name.", "fullName");
  return name;
}
