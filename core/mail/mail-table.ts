import type { LeasedTable } from "../postgres/leased-table.ts";

export const mailTable: LeasedTable = { name: "mail", isOpen: "sent_at is null and failed_at is null" };

export const MAIL_CHANNEL = "mail";

export type QueuedMail = {
  id: string;
  recipient: string;
  subject: string;
  text: string;
  created_at: Date;
  attempts: number;
};
