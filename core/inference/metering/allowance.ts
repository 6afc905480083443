import { type Actor, actorId, clientIdOf } from "../../access/actor.ts";
import { requirePermission } from "../../access/may.ts";
import { organizationPlans } from "../../accounts/organizations/plans.ts";
import { recordAuditEvent } from "../../audit/record-audit-event.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db } from "../../db.ts";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { Prisma } from "../../generated/prisma/client.ts";
import { isId } from "../../ids.ts";

/** Null means no limit. A month is a month in UTC. */
export type Allowance = { monthlyTokens: number | null; monthlyRequests: number | null };

const TOKENS_MAX = 1_000_000_000_000;
const REQUESTS_MAX = 1_000_000_000;

export const allowanceOf = ({ ownerId, orgId }: Pick<InferenceAccount, "ownerId" | "orgId">) =>
  orgId
    ? Prisma.sql`SELECT a.monthly_tokens, a.monthly_requests FROM inference_allowance a
        LEFT JOIN organization o ON o.id = ${orgId}
        WHERE a.subject IN (${ownerId}, 'organization', 'plan:' || o.plan)
        ORDER BY CASE a.subject WHEN ${ownerId} THEN 0 WHEN 'organization' THEN 2 ELSE 1 END LIMIT 1`
    : Prisma.sql`SELECT a.monthly_tokens, a.monthly_requests FROM inference_allowance a
        WHERE a.subject IN (${ownerId}, 'user') ORDER BY CASE a.subject WHEN ${ownerId} THEN 0 ELSE 1 END LIMIT 1`;

export type AllowanceRow = Allowance & {
  subject: string;
  handle: string | null;
};

const ROWS_MAX = 200;

export async function listAllowances(actor: Actor): Promise<AllowanceRow[]> {
  await requirePermission(actor, "installation.operate", null, { what: "The installation" });
  const rows = await db().$queryRaw<
    { subject: string; monthlyTokens: bigint | null; monthlyRequests: number | null; handle: string | null }[]
  >`
    SELECT a.subject, a.monthly_tokens AS "monthlyTokens", a.monthly_requests AS "monthlyRequests",
           coalesce(u.username, o.name) AS handle
      FROM inference_allowance a LEFT JOIN "user" u ON u.id = a.subject LEFT JOIN organization o ON o.id = a.subject
     ORDER BY CASE WHEN a.subject = 'user' THEN 0 WHEN a.subject = 'organization' THEN 1 WHEN a.subject LIKE 'plan:%' THEN 2 ELSE 3 END,
              a.subject LIMIT ${ROWS_MAX}`;
  return rows.map((row) => ({ ...row, monthlyTokens: row.monthlyTokens === null ? null : Number(row.monthlyTokens) }));
}

/**
 * @param subject `user`, `organization`, `plan:<plan>`, a handle or an ID
 * @param allowance null removes the allowance, except those of `user` and `organization`
 */
export async function setAllowance(
  actor: Actor,
  subject: string,
  allowance: { monthlyTokens: string; monthlyRequests: string } | null,
  from: RequestOrigin,
): Promise<void> {
  const limits = allowance && {
    monthlyTokens: parseLimit("monthlyTokens", allowance.monthlyTokens, TOKENS_MAX),
    monthlyRequests: parseLimit("monthlyRequests", allowance.monthlyRequests, REQUESTS_MAX),
  };
  await db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    const key = await subjectOf(tx, subject);
    if (limits) {
      const change = { ...limits, updatedAt: new Date() };
      await tx.inferenceAllowance.upsert({ where: { subject: key }, create: { subject: key, ...change }, update: change });
    } else {
      if (key === "user" || key === "organization") {
        throw invalidRequest(
          `You cannot delete this allowance: it applies to every ${key} that has no separate allowance. Leave its limits empty for no limit.`,
        );
      }
      await tx.inferenceAllowance.deleteMany({ where: { subject: key } });
    }
    await recordAuditEvent(tx, {
      type: "inference_allowance.set",
      actor,
      ...(isId(key) && { orgId: await orgIdOf(tx, key) }),
      data: { subject, ...limits },
      from,
    });
  });
}

async function subjectOf(tx: Db, subject: string): Promise<string> {
  if (subject === "user" || subject === "organization") return subject;
  if (subject.startsWith("plan:")) {
    if (organizationPlans.some((plan) => subject === `plan:${plan}`)) return subject;
    throw invalidRequest(`Choose a plan from: ${organizationPlans.join(", ")}.`, "subject");
  }
  const known: string = subject;
  if (isId(known)) return known;
  const handle = subject.includes("\0") ? null : await tx.handle.findUnique({ where: { handle: subject.toLowerCase() } });
  const id = handle?.orgId ?? handle?.userId;
  if (!id) throw invalidRequest("There is no user or organization with this name.", "subject");
  return id;
}

async function orgIdOf(tx: Db, id: string): Promise<string | null> {
  return (await tx.organization.findUnique({ where: { id }, select: { id: true } }))?.id ?? null;
}

function parseLimit(field: string, text: string, max: number): number | null {
  const digits = text.trim().replace(/[,_\s]/g, "");
  if (digits === "") return null;
  if (!/^\d{1,13}$/.test(digits) || Number(digits) > max) {
    throw invalidRequest(`Enter a whole number up to ${max.toLocaleString("en")}, or leave it empty for no limit.`, field);
  }
  return Number(digits);
}

export type InferenceAccount = {
  userId: string;
  /** Empty for a personal access token. */
  clientId: string;
  /** Set for an exchanged token, for which the organization pays. */
  orgId: string | null;
  ownerId: string;
};

export async function requireInferenceAccount(actor: Actor): Promise<InferenceAccount> {
  const userId = actorId(actor);
  const orgId = (actor.kind === "token" && actor.boundOrgId) || null;
  const owner = orgId ? { ownerUserId: null, ownerOrgId: orgId } : { ownerUserId: userId, ownerOrgId: null };
  await requirePermission(actor, "inference.use", owner, { what: "Inference" });
  // A CI job's token and the operator's command have no user to meter.
  if (!userId) throw new ServiceError("forbidden", "Inference requires a user's token.");
  return { userId, clientId: clientIdOf(actor) ?? "", orgId, ownerId: orgId ?? userId };
}
