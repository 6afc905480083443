import { findOwner, type Owner } from "#core/accounts/handles/find-owner.ts";
import { notFound } from "#core/errors.ts";

/** The owner of a handle, if it is of the requested kind. @throws ServiceError `not_found` */
export async function findPublicOwner(handle: string, kind: Owner["kind"]): Promise<Owner> {
  const owner = handle.isWellFormed() ? await findOwner(handle) : undefined;
  if (owner?.kind !== kind) throw notFound(kind === "user" ? "User" : "Organization");
  return owner;
}
