/** Whether the mail server permanently refused this letter (a 5xx reply, RFC 5321 §4.2.1) because of the letter, not because of us. */
export function isRefusal(error: unknown): boolean {
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  return typeof responseCode === "number" && responseCode >= 500 && (code === "EENVELOPE" || code === "EMESSAGE");
}
