/** Whether the mail server refused this letter for good (a 5xx reply, RFC 5321 §4.2.1), for what it is and not for who we are. */
export function isRefusal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
}
