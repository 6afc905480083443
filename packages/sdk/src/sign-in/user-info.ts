import { z } from "zod";
import { organizationRoles } from "../roles.ts";
import { discover, endpointAt, type ServiceOptions } from "./discover.ts";
import { SignInError } from "./sign-in-error.ts";

const organizationSchema = z.looseObject({
  /** The organization's id: a value of `orgIds`. */
  sub: z.string(),
  name: z.string(),
  preferred_username: z.string(),
  picture: z.string().optional(),
  /** Only of those that were granted. */
  roleInOrg: z.enum(organizationRoles).optional().catch(undefined),
});
const schema = z.looseObject({
  sub: z.string(),
  name: z.string().optional(),
  preferred_username: z.string().optional(),
  profile: z.string().optional(),
  picture: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  organizations: z.array(organizationSchema).default([]),
});
export type UserInfo = z.infer<typeof schema>;

/**
 * Who an access token is of, as far as its scopes tell.
 * @param subject `sub` of the ID token that came with it: another person's answer is refused
 * @throws ApiError of status 401 where the token has ended; SignInError `subject_mismatch`
 * @see https://openid.net/specs/openid-connect-core-1_0.html#UserInfo
 */
export async function fetchUserInfo({
  accessToken,
  subject,
  ...service
}: ServiceOptions & { accessToken: string; subject?: string | undefined }): Promise<UserInfo> {
  const { userinfo_endpoint } = await discover(service);
  if (!userinfo_endpoint) throw new SignInError("The service tells nobody who they are.", { code: "unexpected_answer" });
  const { transport, path } = endpointAt(userinfo_endpoint, service);
  const headers = { authorization: `Bearer ${accessToken}` };
  const info = await transport.request("GET", path, { schema, headers, signal: service.signal });
  if (subject !== undefined && info.sub !== subject) {
    throw new SignInError("The service answered with another person than the one who signed in.", { code: "subject_mismatch" });
  }
  return info;
}
