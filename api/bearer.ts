import type { Context } from "hono";
import { ServiceError } from "#core/errors.ts";
import { type Bearer, findBearer } from "#core/oauth/find-bearer.ts";

// RFC 6750 §2.1; the scheme is compared without case (wire.md 0.4).
const AUTHORIZATION = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Whose token the request carries.
 * @throws ServiceError `unauthorized`, in the words that existing clients look for (wire.md 1.8).
 */
export async function requireBearer(c: Context): Promise<Bearer> {
  const header = c.req.header("Authorization");
  if (!header) throw new ServiceError("unauthorized", "Invalid username or password.");
  const [, token] = AUTHORIZATION.exec(header) ?? [];
  const bearer = token === undefined ? undefined : await findBearer(token);
  if (!bearer) throw new ServiceError("unauthorized", "Invalid credentials in Authorization header");
  return bearer;
}
