import * as oauth from "oauth4webapi";
import { z } from "zod";
import { ApiError } from "../client/api-error.ts";
import { organizationRoles } from "../roles.ts";
import { connect, type ServiceOptions } from "./service.ts";
import { orRefused, SignInError } from "./sign-in-error.ts";

const organizationSchema = z.looseObject({
  /** The organization's ID, which `orgIds` accepts. */
  sub: z.string(),
  name: z.string(),
  preferred_username: z.string(),
  picture: z.string().optional(),
  /** Only if the person granted access to the organization. */
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
/**
 * Claims about the person, as far as the token's scopes allow, and the person's organizations.
 * @see [OpenID Connect Core 1.0 §5.1](https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims)
 * @group Sign-in @useDeclaredType
 */
export type UserInfo = z.infer<typeof schema>;

/**
 * Reads the current claims about the person to whom an access token belongs, as far as its scopes allow.
 * @param options The service and the access token. With `subject`, a response about another person is refused: pass the `sub` of
 * the ID token that came with the access token.
 * @returns The claims. Find your account by `sub`.
 * @throws {@link ApiError} with status 401: the token is no longer valid, so renew it with {@link refreshTokens} or sign in again.
 * @throws {@link SignInError} `subject_mismatch`: the response is about another person.
 * @see [OpenID Connect Core 1.0 §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo)
 * @group Sign-in
 */
export async function fetchUserInfo({
  accessToken,
  subject,
  ...service
}: ServiceOptions & { accessToken: string; subject?: string | undefined }): Promise<UserInfo> {
  const { as, client, http } = await connect(service);
  if (!as.userinfo_endpoint) throw new SignInError("The service has no userinfo endpoint.", { code: "unexpected_answer" });
  const response = await orRefused(oauth.userInfoRequest(as, client, accessToken, http));
  const { data: info, error } = schema.safeParse(await response.json());
  if (!info) {
    throw new ApiError("The service's userinfo cannot be used. Use the SDK version that matches the service.", {
      status: 200,
      code: "unexpected_answer",
      cause: error,
    });
  }
  // Detects an access token that was replaced by another person's (OpenID Connect Core 1.0 §5.3.2).
  if (subject !== undefined && info.sub !== subject) {
    throw new SignInError("The service's userinfo is about a different person than the one who signed in.", {
      code: "subject_mismatch",
    });
  }
  return info;
}
