/**
 * - `address`: no document can be at this URL (S68)
 * - `host`: the operator does not allow documents on this host (S87)
 * - `refused`: the document is gone, or breaks a rule
 * - `unreachable`: no response, or one that says nothing about the document
 * - `busy`: too many fetches are running (S80)
 */
type DocumentErrorKind = "address" | "host" | "refused" | "unreachable" | "busy";

export class DocumentError extends Error {
  override name = "DocumentError";
  readonly kind: DocumentErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly isOwnFault: boolean;

  constructor(
    kind: DocumentErrorKind,
    sentence: string,
    { retryAfterSeconds, isOwnFault = false }: { retryAfterSeconds?: number; isOwnFault?: boolean } = {},
  ) {
    super(sentence);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOwnFault = isOwnFault;
  }
}
