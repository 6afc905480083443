import { findOwner } from "#core/accounts/handles/find-owner.ts";
import { notFound } from "#core/errors.ts";

/** The id of the user with a username. @throws ServiceError `not_found` */
export async function findUserNamed(username: string): Promise<string> {
  const owner = await findOwner(username);
  if (owner?.kind !== "user") throw notFound(`User "${username}"`);
  return owner.id;
}

/** The id of the organization with a name. @throws ServiceError `not_found` */
export async function findOrganizationNamed(name: string): Promise<string> {
  const owner = await findOwner(name);
  if (owner?.kind !== "organization") throw notFound(`Organization "${name}"`);
  return owner.id;
}
