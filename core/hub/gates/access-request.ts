import { ServiceError } from "../../errors.ts";

/** What becomes of a person's wish to read a gated repository. */
export const accessRequestStatuses = ["pending", "accepted", "rejected"] as const;
export type AccessRequestStatus = (typeof accessRequestStatuses)[number];

export const MESSAGE_MAX_CHARACTERS = 1_000;
export const REASON_MAX_CHARACTERS = 200;

/** One of a repository's requests, as whoever decides sees it. */
export type AccessRequest = {
  user: {
    id: string;
    username: string;
    fullName: string;
    avatarId: string | null;
    /** Shared by asking; null for whoever was let in without having asked. */
    email: string | null;
  };
  status: AccessRequestStatus;
  message: string | null;
  rejectionReason: string | null;
  askedAt: Date;
  decidedAt: Date | null;
};

/** @throws ServiceError `invalid_request` */
export function parseAccessRequestStatus(value: unknown): AccessRequestStatus {
  if (!accessRequestStatuses.includes(value as AccessRequestStatus)) {
    throw new ServiceError("invalid_request", "Choose pending, accepted or rejected.", { field: "status" });
  }
  return value as AccessRequestStatus;
}

/** Where nobody needs to be let in, there is nothing to ask for or to decide. */
export function requireGate({ gated }: { gated: string }): void {
  if (gated === "none") throw new ServiceError("invalid_request", "This repository is not gated: whoever sees it may read it.");
}
