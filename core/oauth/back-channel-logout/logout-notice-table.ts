import type { LeasedTable } from "#core/leases/leased-table.ts";

export const logoutNoticeTable: LeasedTable = { name: "oauth_logout_notice", isOpen: "sent_at is null and failed_at is null" };

/** NOTIFY channel: a logout notice was queued. */
export const LOGOUT_NOTICE_CHANNEL = "oauth_logout_notice";

/** A claimed logout notice, as stored. */
export type QueuedLogoutNotice = {
  id: string;
  client_id: string;
  user_id: string;
  /** The `sid` of the session at this client, as in its ID tokens. */
  sid: string | null;
  /** This one included. */
  attempts: number;
};
