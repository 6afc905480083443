import { type OrganizationRole, organizationRoles } from "@keyhook/sdk";
import { ServiceError } from "../../errors.ts";

/** @throws ServiceError `invalid_request` */
export function parseRole(value: unknown, field = "role"): OrganizationRole {
  const role = organizationRoles.find((known) => known === value);
  if (!role) throw new ServiceError("invalid_request", `Choose one of ${organizationRoles.join(", ")}.`, { field });
  return role;
}
