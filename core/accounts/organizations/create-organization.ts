import { type Actor, actorId } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { db } from "../../db.ts";
import { checkAll, invalidRequest } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { claimHandle, parseHandle } from "../handles/parse-handle.ts";
import { parseWebsite } from "../parse-website.ts";
import { displayText } from "../plain-text.ts";
import { consumeThrottle, throttleKey } from "../throttle.ts";
import { insertMembership } from "./membership.ts";

export const ORGANIZATION_NAME_MAX_CHARACTERS = 100;

const CREATE_LIMIT = { limit: 20, windowSeconds: 24 * 60 * 60 };

type NewOrganizationInput = {
  name: string;
  fullName?: string;
  website?: string;
  /** The first administrator, if the operator's command creates the organization. */
  ownerId?: string;
};

export async function createOrganization(
  actor: Actor,
  input: NewOrganizationInput,
  from: RequestOrigin,
): Promise<{ id: string; name: string }> {
  await requirePermission(actor, "organization.create", null, { what: "Service" });
  const nameLimits = { maxCharacters: ORGANIZATION_NAME_MAX_CHARACTERS, isRequired: false };
  const { handle, website, ...given } = await checkAll({
    handle: () => parseHandle(input.name, "name"),
    fullName: () => displayText("fullName", input.fullName ?? "", nameLimits),
    website: () => parseWebsite(input.website ?? ""),
  });
  const fullName = given.fullName || handle.spelled;
  const adminId = actor.kind === "command" ? input.ownerId : actorId(actor);
  if (!adminId) throw invalidRequest("Enter the username of the organization's first administrator.", "owner");
  if (actor.kind !== "command") await consumeThrottle(throttleKey("create-organization", adminId), CREATE_LIMIT);
  const id = newId();
  await db().$transaction(async (tx) => {
    await claimHandle(tx, handle, { orgId: id }, "name");
    await tx.organization.create({ data: { id, name: handle.spelled, fullName, website } });
    await insertMembership(tx, id, adminId, "admin");
    await recordAuditEvent(tx, {
      type: "organization.create",
      actor,
      orgId: id,
      subjectId: adminId,
      data: { name: handle.spelled, fullName },
      from,
    });
  });
  return { id, name: handle.spelled };
}
