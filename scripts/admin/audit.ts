import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { operatorCommand } from "#core/access/actor.ts";
import { auditEventOnTheWire } from "#core/accounts/audit-log/audit-event-on-the-wire.ts";
import { type AuditExportFormat, auditExportFormats } from "#core/accounts/audit-log/audit-export-formats.ts";
import type { AuditScope } from "#core/accounts/audit-log/audit-scope.ts";
import { exportAuditLog } from "#core/accounts/audit-log/export-audit-log.ts";
import { listAuditEntries } from "#core/accounts/audit-log/list-audit-entries.ts";
import { parseAuditQuery } from "#core/accounts/audit-log/parse-audit-query.ts";
import { setAuditRetention } from "#core/accounts/audit-log/set-audit-retention.ts";
import { findOrganizationByName } from "#core/accounts/organizations/find-organization.ts";
import { sealAuditEvents } from "#core/audit/chain/seal-audit-events.ts";
import { type AuditHead, type AuditVerification, verifyAuditChain } from "#core/audit/chain/verify-audit-chain.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { readAuditRetention } from "#core/audit/retention.ts";
import { notFound } from "#core/errors.ts";
import { command, UsageError } from "./command.ts";

const org = { value: "NAME", help: "of one organization only" } as const;
const q = { value: "SEARCH", help: "such as: author:mara type:oauth_app.* since:2026-11-01" } as const;

export const auditList = command({
  name: "audit list",
  summary: "Lists entries of the audit log, the latest 50 first.",
  notes: ["A search has words and author:, ip:, type:, since:, until:. `author:system` is what no person did."],
  options: { org, q, before: { value: "ID", help: "older than this entry" } },
  async run({ org, q = "", before }) {
    const { entries } = await listAuditEntries(operatorCommand, await scopeOf(org), parseAuditQuery(q), before ? { before } : {});
    const events = entries.map(auditEventOnTheWire);
    const lines = events.map(({ _id, createdAt, type, ip, message }) => [createdAt, _id, type, ip ?? "-", message].join("\t"));
    return { json: { events }, text: lines.join("\n") || "There are no such entries." };
  },
});

export const auditExport = command({
  name: "audit export",
  summary: "Writes entries of the audit log to a file, the latest first, at most 100,000. The export is recorded too.",
  options: {
    out: { value: "FILE", help: "made anew, readable by you only", isRequired: true },
    format: { value: auditExportFormats.join("|"), help: "jsonl unless given", choices: auditExportFormats },
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
  summary: "Proves that no entry of the audit log was changed, taken out or put in since it was made.",
  notes: [
    "Keep the head that it prints where nobody who can write to the database can write, and give it with --head the next time:",
    "then a log that was cut off at its end, or made anew as a whole, is found out as well. docs/guides/audit-log.md says more.",
  ],
  options: { head: { value: "NUMBER:HASH", help: "a head that was printed earlier: it must still be in the chain" } },
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
    return { json, text: spoken(found), isFailure: flaw !== undefined };
  },
});

export const auditRetention = command({
  name: "audit retention",
  summary: "Says or sets how long contents of the audit log are kept. Their places in its chain stay.",
  options: { days: { value: "N|forever", help: "90 to 3660 days, or forever; 400 until it is set" } },
  async run({ days }) {
    if (days !== undefined) {
      if (days !== "forever" && !/^\d{1,9}$/.test(days)) throw new UsageError("--days must be a whole number, or forever.");
      await setAuditRetention(operatorCommand, { keepDays: days === "forever" ? null : Number(days) }, noOrigin);
    }
    const { keepDays } = await readAuditRetention();
    return {
      json: { keep_days: keepDays },
      text: keepDays === null ? "Entries are kept for ever." : `Entries are kept for ${keepDays} days.`,
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
    throw new UsageError("--head is a number, a colon and 64 hexadecimal digits, as an earlier verification printed it.");
  return { seq: BigInt(seq), hash };
}

const flaws: Record<NonNullable<AuditVerification["flaw"]>["kind"], string> = {
  seal_missing: "its place in the chain is missing",
  seal_altered: "its place in the chain was altered",
  link_broken: "it does not follow from the one before: something was taken out or put in there",
  entry_missing: "the entry itself was deleted",
  entry_altered: "the entry was altered after it was made",
  entry_unchained: "it was put in by hand, or taken out of the chain",
  head_differs: "the head that you gave is not in the chain: the log was cut off there or made anew",
};

function spoken({ flaw, verified, expired, unsealed, head }: AuditVerification): string {
  const lines = flaw
    ? [
        `BROKEN at ${[flaw.seq && `number ${flaw.seq}`, flaw.eventId && `entry ${flaw.eventId}`].filter(Boolean).join(", ")}: ${flaws[flaw.kind]}.`,
      ]
    : ["The audit log is whole."];
  lines.push(`${verified} entries in the chain are sound${flaw ? " up to there" : ""}; ${unsealed} wait for their place.`);
  if (expired > 0) lines.push(`${expired} of them are past retention: their contents are gone, their places are not.`);
  if (head) lines.push(`head: ${head.seq}:${head.hash}`);
  return lines.join("\n");
}
