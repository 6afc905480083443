import { createHmac } from "node:crypto";
import { derivedKey } from "../../../crypto/seal.ts";
import { isEqualInConstantTime } from "../../../crypto/token.ts";
import { ServiceError } from "../../../errors.ts";
import type { Uploader } from "./uploader.ts";

/**
 * How long after a batch answer its transfers may begin. git-lfs asks again for what it did not get to within that time; the hub's own
 * clients do not, and have a hundred files to upload. An address for uploading takes nothing but the bytes of its hash.
 */
export const TRANSFER_SECONDS = { download: 60 * 60, upload: 24 * 60 * 60 } as const;

/** What the batch answer allowed: one operation on one object of one repository. */
export type Transfer = {
  operation: "download" | "upload";
  repoId: string;
  oid: string;
  size: number;
  /** Where a client was sent to upload it, past us. */
  location?: string;
  uploadId?: string;
  /** Whose it is, for the fair queue: no token comes with it. */
  party?: string;
  /** Of an upload: whose right to write is checked again when the address is used. */
  uploader?: Uploader | undefined;
};

type Signed = Transfer & { expiresAt: number };

const signatureOf = (payload: string): string =>
  createHmac("sha256", derivedKey("lfs transfer")).update(payload).digest("base64url");

/**
 * Signs a transfer, so that nobody's token has to travel with it. It becomes a part of the address: the hub's own clients send no
 * header that they are not made to.
 */
export function signTransfer(transfer: Transfer, now = Date.now()): string {
  const signed: Signed = { ...transfer, expiresAt: Math.floor(now / 1000) + TRANSFER_SECONDS[transfer.operation] };
  const payload = Buffer.from(JSON.stringify(signed)).toString("base64url");
  return `${payload}.${signatureOf(payload)}`;
}

/** @throws ServiceError `forbidden` for what we did not sign, for another object or operation, or too long ago */
export function readTransfer(
  text: string | undefined,
  expected: Pick<Transfer, "operation" | "oid">,
  now = Date.now(),
): Transfer {
  const [payload = "", signature = ""] = text?.split(".") ?? [];
  if (!isEqualInConstantTime(signature, signatureOf(payload))) throw refuse("This address is not valid.");
  const { expiresAt, ...transfer } = JSON.parse(Buffer.from(payload, "base64url").toString()) as Signed;
  if (expiresAt * 1000 <= now) throw refuse("This address has expired.");
  if (transfer.operation !== expected.operation || transfer.oid !== expected.oid) throw refuse("This address is not valid.");
  return transfer;
}

const refuse = (sentence: string): ServiceError => new ServiceError("forbidden", `${sentence} Ask for the transfer again.`);
