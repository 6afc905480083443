import { discover } from "./discover.ts";
import { SignInError } from "./sign-in-error.ts";
import { type AppOptions, postForm } from "./tokens.ts";

/**
 * Signs out: ends a refresh token with all that came of it, or an access token. One that has ended already is no error.
 * @see https://www.rfc-editor.org/rfc/rfc7009
 */
export async function revokeToken({ token, ...app }: AppOptions & { token: string }): Promise<void> {
  const { revocation_endpoint } = await discover(app);
  if (!revocation_endpoint) throw new SignInError("The service does not let apps end tokens.", { code: "unsupported" });
  await postForm(revocation_endpoint, app, { token });
}
