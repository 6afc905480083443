import { isSigned, sign } from "../../../crypto/seal.ts";
import { ServiceError } from "../../../errors.ts";
import type { Uploader } from "./uploader.ts";

/** The public hub's clients request no new URLs during an upload. */
export const TRANSFER_SECONDS = { download: 60 * 60, upload: 24 * 60 * 60 } as const;

export type Transfer = {
  operation: "download" | "upload";
  repoId: string;
  oid: string;
  size: number;
  location?: string;
  uploadId?: string;
  party?: string;
  /** The right to write is checked again at each use. */
  uploader?: Uploader | undefined;
};

type Signed = Transfer & { expiresAt: number };

const PURPOSE = "lfs transfer";

/** The result is a part of the URL, because the public hub's clients do not send the headers of a batch answer. */
export function signTransfer(transfer: Transfer, now = Date.now()): string {
  const signed: Signed = { ...transfer, expiresAt: Math.floor(now / 1000) + TRANSFER_SECONDS[transfer.operation] };
  const payload = Buffer.from(JSON.stringify(signed)).toString("base64url");
  return `${payload}.${sign(PURPOSE, payload)}`;
}

export function readTransfer(
  text: string | undefined,
  expected: Pick<Transfer, "operation" | "oid">,
  now = Date.now(),
): Transfer {
  const [payload = "", signature = ""] = text?.split(".") ?? [];
  if (!isSigned(PURPOSE, payload, signature)) throw refuse("This URL is not valid.");
  const { expiresAt, ...transfer } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Signed;
  if (expiresAt * 1000 <= now) throw refuse("This URL has expired.");
  if (transfer.operation !== expected.operation || transfer.oid !== expected.oid) throw refuse("This URL is not valid.");
  return transfer;
}

const refuse = (sentence: string): ServiceError => new ServiceError("forbidden", `${sentence} Request the transfer again.`);
