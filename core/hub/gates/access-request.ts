import { ServiceError } from "../../errors.ts";

/** The states of a request to read a gated repository. */
export const accessRequestStatuses = ["pending", "accepted", "rejected"] as const;
export type AccessRequestStatus = (typeof accessRequestStatuses)[number];

export const MESSAGE_MAX_CHARACTERS = 1_000;
export const REASON_MAX_CHARACTERS = 200;

/** An access request as those who decide see it. */
export type AccessRequest = {
  user: {
    id: string;
    username: string;
    fullName: string;
    avatarId: string | null;
    /** Shared by asking; null for a user who was given access without asking. */
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

/** Without a gate there is nothing to ask for or to decide. */
export function requireGate({ gated }: { gated: string }): void {
  if (gated === "none") throw new ServiceError("invalid_request", "This repository is not gated: whoever sees it may read it.");
}
