import type { LeasedTable } from "../postgres/leased-table.ts";

export const mailTable: LeasedTable = { name: "mail", isOpen: "sent_at is null and failed_at is null" };

/** NOTIFY channel: an email was queued. */
export const MAIL_CHANNEL = "mail";

/** A claimed email, as stored. */
export type QueuedMail = {
  id: string;
  recipient: string;
  subject: string;
  text: string;
  created_at: Date;
  /** The number of attempts, including this one. */
  attempts: number;
};
