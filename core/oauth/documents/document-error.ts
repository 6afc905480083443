/**
 * - `address`: no document can be at this address (S68)
 * - `host`: the operator does not take documents of this host (S87)
 * - `refused`: the host's answer is final: the document is gone, or breaks a rule
 * - `unreachable`: no answer that says anything of the document
 * - `busy`: too much is being fetched (S80)
 */
export type DocumentErrorKind = "address" | "host" | "refused" | "unreachable" | "busy";

/** Why a client ID metadata document cannot be had, in words for the app's developer. */
export class DocumentError extends Error {
  override name = "DocumentError";
  readonly kind: DocumentErrorKind;
  readonly retryAfterSeconds: number | undefined;
  /** For `busy`: it is the asker's own address that asks too often. */
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
