import { z } from "zod";
import { organizationRoles } from "../roles.ts";
import type { Paged } from "./paged.ts";
import type { Transport } from "./transport.ts";
import { type Asked, part } from "./whose.ts";

const organizationSchema = z.looseObject({
  _id: z.string(),
  /** The handle. */
  name: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  numModels: z.number(),
  numDatasets: z.number(),
  numSpaces: z.number(),
});
export type OrganizationRecord = z.infer<typeof organizationSchema>;

const memberSchema = z.looseObject({
  _id: z.string(),
  /** The handle. */
  user: z.string(),
  fullname: z.string(),
  avatarUrl: z.string(),
  role: z.enum(organizationRoles),
});
export type MemberRecord = z.infer<typeof memberSchema>;

/** Those that the caller is in are in `whoami().orgs`. */
export function organizationsOf({ request, pages }: Transport) {
  const at = (name: string) => `/api/organizations/${part(name)}`;
  return {
    get: (name: string, { signal }: Asked = {}): Promise<OrganizationRecord> =>
      request("GET", `${at(name)}/overview`, { schema: organizationSchema, signal }),

    /** For its members, in the order in which they joined. */
    members: (name: string, { signal }: Asked = {}): Paged<MemberRecord> =>
      pages(`${at(name)}/members`, { schema: z.array(memberSchema), signal }),

    /** Cuts a member's token off from the organization. */
    async revokeToken(name: string, token: string, { signal }: Asked = {}): Promise<void> {
      await request("POST", `${at(name)}/settings/tokens/revoke`, { body: { token }, signal, isIdempotent: true });
    },
  };
}
