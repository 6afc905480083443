import { z } from "zod";
import { organizationRoles } from "./roles.ts";

const counts = { numModels: z.number(), numDatasets: z.number(), numSpaces: z.number() };

/** `GET /api/users/{name}/overview` @group Users and organizations */
export const userOverviewSchema = z.object({
  _id: z.string(),
  type: z.literal("user"),
  user: z.string().meta({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  isPro: z.boolean(),
  ...counts,
  orgs: z
    .array(z.object({ id: z.string(), name: z.string(), fullname: z.string(), avatarUrl: z.string() }))
    .meta({ description: "The organizations of which the caller is also a member. Only members see memberships." }),
});

/** `GET /api/organizations/{name}/overview` @group Users and organizations */
export const organizationOverviewSchema = z.object({
  _id: z.string(),
  type: z.literal("org"),
  name: z.string().meta({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  createdAt: z.string(),
  ...counts,
});

/** A member in `GET /api/organizations/{name}/members`. @group Users and organizations */
export const memberSchema = z.object({
  _id: z.string(),
  type: z.literal("user"),
  user: z.string().meta({ description: "The handle." }),
  fullname: z.string(),
  avatarUrl: z.string(),
  isPro: z.boolean(),
  role: z.enum(organizationRoles),
});

/** `GET …/avatar` @group Users and organizations */
export const avatarSchema = z.object({ avatarUrl: z.string() });

/** `GET …/user-access-request/{status}`: a user who requested access to a gated repository. @group Users and organizations */
export const accessRequestSchema = z.object({
  user: z.object({
    _id: z.string(),
    user: z.string(),
    fullname: z.string(),
    email: z.string().optional().meta({
      description: "The e-mail address of the person who requested access. By requesting access, they agreed to share it.",
    }),
    type: z.literal("user"),
    avatarUrl: z.string(),
  }),
  status: z.enum(["pending", "accepted", "rejected"]),
  fields: z.record(z.string(), z.string()),
  timestamp: z.string(),
});
export type AccessRequestJson = z.infer<typeof accessRequestSchema>;

/** `POST …/user-access-request/grant`: the user who gets access. @group Users and organizations */
export const accessGrantSchema = z.object({
  user: z.string().max(200).optional().meta({ description: "A handle. Send either `user` or `userId`." }),
  userId: z.string().max(200).optional(),
});

/** `POST …/user-access-request/handle` @group Users and organizations */
export const accessDecisionSchema = accessGrantSchema.extend({
  status: z.string().meta({ description: "accepted, rejected or pending" }),
  rejectionReason: z.string().nullish().meta({ description: "The reason for a rejection, which the person sees." }),
});

/** An entry of an organization's audit log. @group Users and organizations */
export const auditEventSchema = z.object({
  _id: z.string(),
  createdAt: z.string(),
  type: z.string().meta({ description: "`scope.action`, for example `oauth_app.create`." }),
  message: z.string(),
  data: z.unknown(),
  ip: z.string().nullable(),
  location: z.null().meta({ description: "Always null: the service does not locate IP addresses." }),
  userAgent: z.string().nullable(),
  author: z.object({
    type: z.enum(["user", "system"]),
    _id: z.string().optional(),
    user: z.string().nullish(),
    avatarUrl: z.string().nullish(),
    deleted: z.boolean().optional(),
  }),
  token: z
    .object({
      type: z.string(),
      id: z.string(),
      name: z.string().nullable(),
      role: z.string().nullable(),
      last4: z.string().nullable(),
      deleted: z.boolean().nullable(),
    })
    .nullable(),
  oauth: z.object({ clientId: z.string(), name: z.string().nullable() }).nullable(),
  subject: z
    .object({ _id: z.string(), user: z.string().nullable(), deleted: z.boolean() })
    .nullable()
    .meta({ description: "The affected user, if that is not the author." }),
  organization: z.object({ _id: z.string(), name: z.string().nullable() }).nullable(),
});
