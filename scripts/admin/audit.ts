import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { auditEventOnTheWire } from "#core/accounts/audit-log/audit-event-on-the-wire.ts";
import { type AuditScope, parseAuditQuery } from "#core/accounts/audit-log/audit-query.ts";
import { type AuditExportFormat, auditExportFormats, exportAuditLog } from "#core/accounts/audit-log/export-audit-log.ts";
import { listAuditEntries } from "#core/accounts/audit-log/list-audit-entries.ts";
import { setAuditRetention } from "#core/accounts/audit-log/set-audit-retention.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { type AuditHead, type AuditVerification, verifyAuditChain } from "#core/audit/chain/verify-audit-chain.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { readAuditRetention } from "#core/audit/retention.ts";
import { counted } from "#core/counted.ts";
import { notFound } from "#core/errors.ts";
import { command, UsageError } from "./command.ts";

const org = { value: "NAME", help: "only one organization" } as const;
const q = { value: "SEARCH", help: "such as: author:mara type:oauth_app.* since:2026-11-01" } as const;

export const auditList = command({
  name: "audit list",
  summary: "Lists the latest 50 entries of the audit log.",
  notes: ["A search can contain words and author:, ip:, type:, since: and until:. `author:system` finds entries without a user."],
  options: { org, q, before: { value: "ID", help: "only entries older than this one" } },
  async run({ org, q = "", before }) {
    const { entries } = await listAuditEntries(operatorCommand, await scopeOf(org), parseAuditQuery(q), before ? { before } : {});
    const events = entries.map(auditEventOnTheWire);
    const lines = events.map(({ _id, createdAt, type, ip, message }) =>
      [createdAt, _id, type, ip ?? "-", message.replace(/\s+/g, " ")].join("\t"),
    );
    return { json: { events }, text: lines.join("\n") || "No entries match." };
  },
});

export const auditExport = command({
  name: "audit export",
  summary: "Writes the latest 100,000 entries of the audit log to a file. The log records the export.",
  options: {
    out: { value: "FILE", help: "a new file, which only you can read", isRequired: true },
    format: { value: auditExportFormats.join("|"), help: "by default jsonl", choices: auditExportFormats },
    org,
    q,
  },
  async run({ out, format = "jsonl", org, q = "" }) {
    const pieces = await exportAuditLog(
      async () => operatorCommand,
      await scopeOf(org),
      { q, format: format as AuditExportFormat },
      noOrigin,
    );
    await pipeline(Readable.from(pieces), createWriteStream(out, { flags: "wx", mode: 0o600 })).catch((error: Error) => {
      throw new UsageError(`--out: ${error.message}`);
    });
    return { json: { file: out, format }, text: `Written to ${out}` };
  },
});

export const auditVerify = command({
  name: "audit verify",
  summary: "Verifies that no entry of the audit log was changed, removed or inserted.",
  notes: [
    "Store the head that it prints where nobody with access to the database can change it, and pass it with --head next time. This",
    "also detects a log that was cut off at its end or replaced as a whole. See docs/guides/audit-log.md.",
  ],
  options: { head: { value: "NUMBER:HASH", help: "a head printed earlier, which must still be in the log" } },
  async run({ head }) {
    const kept = head === undefined ? undefined : parseHead(head);
    while ((await sealAuditEvents({ isWaiting: true })).isMore);
    const found = await verifyAuditChain(kept);
    const { flaw, verified, expired, unsealed } = found;
    const json = {
      ok: !flaw,
      flaw: flaw ? { kind: flaw.kind, seq: flaw.seq?.toString() ?? null, event_id: flaw.eventId ?? null } : null,
      verified: Number(verified),
      expired,
      unsealed,
      head: found.head ? `${found.head.seq}:${found.head.hash}` : null,
    };
    return { json, text: describeVerification(found), isFailure: flaw !== undefined };
  },
});

export const auditRetention = command({
  name: "audit retention",
  summary: "Shows or sets how long the audit log keeps the contents of its entries. Each entry's place in the chain is kept.",
  options: { days: { value: "N|forever", help: "90 to 3,660 days, or forever; initially 400" } },
  async run({ days }) {
    if (days !== undefined) {
      if (days !== "forever" && !/^\d{1,9}$/.test(days)) throw new UsageError("--days must be a whole number, or forever.");
      await setAuditRetention(operatorCommand, { keepDays: days === "forever" ? null : Number(days) }, noOrigin);
    }
    const { keepDays } = await readAuditRetention();
    return {
      json: { keep_days: keepDays },
      text: keepDays === null ? "Entries are kept forever." : `Entries are kept for ${keepDays} days.`,
    };
  },
});

async function scopeOf(org: string | undefined): Promise<AuditScope> {
  if (org === undefined) return { kind: "installation" };
  const found = await findOrganizationByName(org);
  if (!found) throw notFound("Organization");
  return { kind: "organization", orgId: found.id };
}

function parseHead(text: string): AuditHead {
  const [, seq, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!seq || !hash)
    throw new UsageError("--head must be a number, a colon and 64 hexadecimal digits, as printed by an earlier verification.");
  return { seq: BigInt(seq), hash };
}

const flaws: Record<NonNullable<AuditVerification["flaw"]>["kind"], string> = {
  seal_missing: "its place in the chain is missing",
  seal_altered: "its place in the chain was altered",
  link_broken: "it does not follow from the previous one: something was removed or inserted there",
  entry_missing: "the entry itself was deleted",
  entry_altered: "the entry was altered after it was recorded",
  entry_unchained: "it was inserted by hand, or removed from the chain",
  head_differs: "the given head is not in the chain: the log was cut off there or replaced",
};

function describeVerification({ flaw, verified, expired, unsealed, head }: AuditVerification): string {
  const lines = flaw
    ? [
        `BROKEN at ${[flaw.seq && `number ${flaw.seq}`, flaw.eventId && `entry ${flaw.eventId}`].filter(Boolean).join(", ")}: ${flaws[flaw.kind]}.`,
      ]
    : ["The audit log is intact."];
  const sealed = counted(Number(verified), "entry in the chain is", "entries in the chain are");
  lines.push(`${sealed} valid${flaw ? " up to there" : ""}; ${counted(unsealed, "is", "are")} not sealed yet.`);
  if (expired > 0)
    lines.push(
      `${counted(expired, "of them is", "of them are")} older than the retention period: only the places in the chain are kept, without contents.`,
    );
  if (head) lines.push(`head: ${head.seq}:${head.hash}`);
  return lines.join("\n");
}

export const auditCommands = [auditList, auditExport, auditVerify, auditRetention];
