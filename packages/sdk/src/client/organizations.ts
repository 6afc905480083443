import { z } from "zod";
import { organizationRoles } from "../roles.ts";
import { type Asked, part } from "./addresses.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";

const organizationSchema = z.looseObject({
  _id: z.string(),
  /** The organization's handle. */
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  numModels: z.number(),
  numDatasets: z.number(),
  numSpaces: z.number(),
});
/** An organization. @group Client @useDeclaredType */
export type OrganizationRecord = z.infer<typeof organizationSchema>;

const memberSchema = z.looseObject({
  _id: z.string(),
  /** The member's handle. */
  user: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  role: z.enum(organizationRoles),
});
/** A member of an organization. @group Client @useDeclaredType */
export type MemberRecord = z.infer<typeof memberSchema>;

/**
 * The operations of `client.organizations`.
 *
 * Organizations by their handles. `whoami().orgs` lists the caller's organizations.
 * @group Client @useDeclaredType
 */
export type OrganizationsClient = ReturnType<typeof organizationsOf>;

export function organizationsOf({ request, pages }: Transport) {
  const at = (name: string) => `/api/organizations/${part(name)}`;
  return {
    /** Reads an organization. @throws {@link ApiError} with status 404 */
    get: (name: string, { signal }: Asked = {}): Promise<OrganizationRecord> =>
      request("GET", `${at(name)}/overview`, { schema: organizationSchema, signal }),

    /** Lists the members, for members only, in the order in which they joined. */
    members: (name: string, { signal }: Asked = {}): Paged<MemberRecord> =>
      pages(`${at(name)}/members`, { schema: z.array(memberSchema), signal }),

    /** Ends a token's access to the organization. `token` is the leaked token. */
    async revokeToken(name: string, token: string, { signal }: Asked = {}): Promise<void> {
      await request("POST", `${at(name)}/settings/tokens/revoke`, { body: { token }, signal, isIdempotent: true });
    },
  };
}
