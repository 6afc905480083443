import type { Actor } from "#core/access/actor.ts";
import { requirePermission } from "#core/access/may.ts";
import { recordAuditEvent } from "#core/audit/record-audit-event.ts";
import type { RequestOrigin } from "#core/audit/request-origin.ts";
import { isDatabaseDown } from "#core/database-errors.ts";
import { db } from "#core/db.ts";
import { invalidRequest } from "#core/errors.ts";
import { notifyEveryClientChange } from "../../apps/change-app.ts";
import { namesCovering } from "./host-name.ts";

export const documentPolicies = ["open", "listed", "off"] as const;
export type DocumentPolicy = (typeof documentPolicies)[number];

const DEFAULT_DOCUMENT_POLICY: DocumentPolicy = "open";
export const DOCUMENT_POLICY_KEY = "client_documents";

/** Another version of the service may have written the row. */
export function documentPolicyOf(value: unknown): DocumentPolicy {
  const { policy } = (value ?? {}) as { policy?: unknown };
  return documentPolicies.find((each) => each === policy) ?? DEFAULT_DOCUMENT_POLICY;
}

export async function readDocumentPolicy(): Promise<{ policy: DocumentPolicy; changedAt: Date | null }> {
  const row = await db().setting.findUnique({ where: { key: DOCUMENT_POLICY_KEY } });
  return { policy: documentPolicyOf(row?.value), changedAt: row?.updatedAt ?? null };
}

/** Discovery must respond while the database is down (S85, S106). */
export async function areDocumentsAccepted(): Promise<boolean> {
  try {
    return (await readDocumentPolicy()).policy !== "off";
  } catch (error) {
    if (isDatabaseDown(error)) return true;
    throw error;
  }
}

/** Tokens are not revoked, so they work again when the policy is changed back (S113). */
export async function setDocumentPolicy(actor: Actor, policy: string, from: RequestOrigin): Promise<DocumentPolicy> {
  const chosen = documentPolicies.find((each) => each === policy);
  return db().$transaction(async (tx) => {
    await requirePermission(actor, "installation.configure", null, { what: "The installation", tx });
    if (!chosen) throw invalidRequest(`Choose one of: ${documentPolicies.join(", ")}.`, "policy");
    const before = await tx.setting.findUnique({ where: { key: DOCUMENT_POLICY_KEY } });
    const change = { value: { policy: chosen }, updatedAt: new Date() };
    await tx.setting.upsert({
      where: { key: DOCUMENT_POLICY_KEY },
      create: { key: DOCUMENT_POLICY_KEY, ...change },
      update: change,
    });
    await recordAuditEvent(tx, {
      type: "installation.client_document_policy",
      actor,
      data: { policy: chosen, before: documentPolicyOf(before?.value) },
      from,
    });
    await notifyEveryClientChange(tx);
    return chosen;
  });
}

export type HostRule = { host: string; rule: "allow" | "block" };

/** See S87. */
export type HostDecision = {
  isAllowed: boolean;
  rule: HostRule | null;
  policy: DocumentPolicy;
};

export function decideHost(hostname: string, rules: readonly HostRule[], policy: DocumentPolicy): HostDecision {
  const rule = namesCovering(hostname)
    .map((name) => rules.find(({ host }) => host === name))
    .find((each) => each !== undefined);
  const isAllowed = policy !== "off" && (rule ? rule.rule === "allow" : policy === "open");
  return { isAllowed, rule: rule ?? null, policy };
}
