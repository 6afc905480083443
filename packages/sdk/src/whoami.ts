import { z } from "zod";
import { organizationRoles, securityRestrictions } from "./roles.ts";

/** An error of the REST API: clients show `error` (docs/specification/errors-and-limits.md#error-body). @group Errors */
export const errorBodySchema = z.object({
  error: z.string(),
  code: z.string(),
  /** The property of the body, or the parameter, that was refused. */
  field: z.string().optional(),
  /** The scope that a token lacks (RFC 6750 §3.1). */
  scope: z.string().optional(),
  /** A further requirement that the caller does not meet, such as a role. */
  requires: z
    .object({
      role: z.enum(organizationRoles).optional(),
      securityRestrictions: z.array(z.enum(securityRestrictions)).optional(),
      orgId: z.string().optional(),
    })
    .optional(),
});

/** One organization in the response of `GET /api/whoami-v2`. @group Users and organizations */
export const whoamiOrganizationSchema = z.object({
  type: z.literal("org"),
  id: z.string(),
  name: z.string(),
  fullname: z.string(),
  email: z.string().nullable(),
  canPay: z.boolean().optional(),
  periodEnd: z.number().nullable(),
  isEnterprise: z.boolean(),
  plan: z.string().optional(),
  avatarUrl: z.url(),
  roleInOrg: z.enum(organizationRoles),
  securityRestrictions: z.array(z.enum(securityRestrictions)),
  resourceGroups: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })),
});

/** The response of `GET /api/whoami-v2`. @group Users and organizations */
export const whoamiSchema = z.object({
  type: z.literal("user"),
  id: z.string(),
  name: z.string(),
  fullname: z.string(),
  email: z.string().optional(),
  emailVerified: z.boolean().optional(),
  canPay: z.boolean().optional(),
  billingMode: z.enum(["prepaid", "postpaid"]).optional(),
  periodEnd: z.number().nullable(),
  isPro: z.boolean(),
  avatarUrl: z.url(),
  orgs: z.array(whoamiOrganizationSchema),
  auth: z.object({
    type: z.enum(["oauth", "access_token"]),
    accessToken: z.object({ displayName: z.string(), role: z.enum(["read", "write"]), createdAt: z.string() }).optional(),
    clientId: z.string().optional(),
    expiresAt: z.string().optional(),
  }),
});
export type Whoami = z.infer<typeof whoamiSchema>;

/**
 * The response of `GET /api/whoami-v2` for the token of a CI job, which belongs to no person. It names the only repository for which the
 * token is valid.
 * @group Users and organizations
 */
export const whoamiJobSchema = z.object({
  type: z.literal("publisher"),
  id: z.string(),
  /** `owner/name` of the repository. */
  name: z.string(),
  /** The author of the job's commits. */
  fullname: z.string(),
  periodEnd: z.null(),
  isPro: z.literal(false),
  avatarUrl: z.url(),
  /** Always empty, because the token belongs to no user. */
  orgs: z.array(whoamiOrganizationSchema).max(0),
  auth: z.object({
    type: z.literal("ci_token"),
    resource: z.object({ sub: z.string(), type: z.enum(["model", "dataset", "space"]), name: z.string() }),
    expiresAt: z.string(),
  }),
});
export type WhoamiJob = z.infer<typeof whoamiJobSchema>;
