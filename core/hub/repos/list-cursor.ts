import { ServiceError } from "../../errors.ts";
import { isId } from "../../ids.ts";

/** A place in a list that is ordered by a time and, where that is the same, by id. */
export type Position = { at: Date; id: string };

const CURSOR = /^[A-Za-z0-9_-]{1,80}$/;

/** A place as text for an address; nobody but `readCursor` need understand it. */
export function writeCursor({ at, id }: Position): string {
  return Buffer.from(`${at.getTime()}.${id}`).toString("base64url");
}

/** @throws ServiceError `invalid_request` for what `writeCursor` has not written */
export function readCursor(cursor: string): Position {
  const [milliseconds = "", id] = CURSOR.test(cursor) ? Buffer.from(cursor, "base64url").toString("latin1").split(".") : [];
  const at = new Date(/^\d{1,14}$/.test(milliseconds) ? Number(milliseconds) : Number.NaN);
  if (Number.isNaN(at.getTime()) || !isId(id)) {
    throw new ServiceError("invalid_request", "This page of the list is not there. Start from the first.", { field: "cursor" });
  }
  return { at, id };
}
