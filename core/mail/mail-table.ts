import type { LeasedTable } from "../postgres/leased-table.ts";

/** An account can cause many emails, most of them to itself, so recipients take turns. */
export const mailTable: LeasedTable = {
  name: "mail",
  isOpen: "sent_at is null and failed_at is null",
  share: { party: "recipient", isShort: "true", isLeftOver: "false" },
};

export const MAIL_CHANNEL = "mail";

export type QueuedMail = {
  id: string;
  recipient: string;
  subject: string;
  text: string;
  created_at: Date;
  attempts: number;
};
