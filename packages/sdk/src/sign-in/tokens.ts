import { z } from "zod";
import { discover, endpointAt, type ServiceOptions } from "./discover.ts";
import { asSignInError } from "./sign-in-error.ts";

/** An OAuth app: a public one has no secret. */
export type AppOptions = ServiceOptions & { clientId: string; clientSecret?: string | undefined };

/** What a sign-in ends with. It can be kept as JSON. */
export type Tokens = {
  accessToken: string;
  /** `bearer`, in whatever case. */
  tokenType: string;
  /** When the access token ends, ISO 8601 in UTC; absent where the service does not say. */
  expiresAt?: string;
  /** What was granted, which may be less than was asked for. */
  scope?: string;
  refreshToken?: string;
  idToken?: string;
};

export const tokenAnswerSchema = z.object({
  access_token: z.string().min(1),
  token_type: z.string(),
  expires_in: z.coerce.number().positive().optional(),
  scope: z.string().optional(),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
});

/**
 * One request to the token endpoint.
 * @throws SignInError with the code of the answer; ApiError where it did not arrive
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5
 */
export async function requestTokens(
  app: ServiceOptions & { clientId?: string | undefined; clientSecret?: string | undefined },
  form: Record<string, string | undefined>,
): Promise<Tokens> {
  const { token_endpoint } = await discover(app);
  const askedAt = Date.now();
  const answer = await postForm(token_endpoint, app, form, tokenAnswerSchema);
  return {
    accessToken: answer.access_token,
    tokenType: answer.token_type,
    ...(answer.expires_in !== undefined && { expiresAt: new Date(askedAt + answer.expires_in * 1000).toISOString() }),
    ...(answer.scope !== undefined && { scope: answer.scope }),
    ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
    ...(answer.id_token !== undefined && { idToken: answer.id_token }),
  };
}

/** A form to an endpoint where clients say who they are: by Basic with a secret, and otherwise by their id alone (RFC 6749 §2.3.1). */
export async function postForm<T>(
  url: string,
  app: ServiceOptions & { clientId?: string | undefined; clientSecret?: string | undefined },
  form: Record<string, string | undefined>,
  schema?: z.ZodType<T>,
): Promise<T> {
  const { clientId, clientSecret, signal } = app;
  const given = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
  const isSecret = clientId !== undefined && clientSecret !== undefined;
  if (clientId !== undefined && !isSecret) given.push(["client_id", clientId]);
  const headers = isSecret ? { authorization: basic(clientId, clientSecret) } : undefined;
  const { transport, path } = endpointAt(url, app);
  try {
    return await transport.request<T>("POST", path, { body: new URLSearchParams(given), headers, schema, signal });
  } catch (error) {
    throw asSignInError(error);
  }
}

/** Both parts are written as in a form before they are put together: a colon or a % in them is none of the scheme's. */
function basic(clientId: string, clientSecret: string): string {
  const encoded = (text: string) => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${btoa(`${encoded(clientId)}:${encoded(clientSecret)}`)}`;
}
