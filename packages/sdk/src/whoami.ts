import { z } from "zod";
import { organizationRoles, securityRestrictions } from "./roles.ts";

/** An error of the REST API: clients show `error` (wire contract, choice 10). */
export const errorBodySchema = z.object({
  error: z.string(),
  error_description: z.string().optional(),
  code: z.string(),
});

/** One organization in the answer of `GET /api/whoami-v2`. */
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

/** The answer of `GET /api/whoami-v2`. */
export const whoamiSchema = z.object({
  type: z.literal("user"),
  id: z.string(),
  name: z.string(),
  fullname: z.string(),
  email: z.string().optional(),
  emailVerified: z.boolean().optional(),
  canPay: z.boolean().optional(),
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
