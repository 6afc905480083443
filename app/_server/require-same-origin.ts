import { headers } from "next/headers";
import { env } from "#core/env.ts";
import { ServiceError } from "#core/errors.ts";

/**
 * Refuses a form that another site sent (S25). Next compares `Origin` with `Host` by itself, but lets a request without
 * `Origin` through; and a session cookie with SameSite=Lax does not stop a foreign page from signing its visitor in to an
 * account of the attacker's (login CSRF). `Sec-Fetch-Site` cannot be set by pages; browsers too old for it send `Origin`.
 *
 * @throws ServiceError `forbidden`
 */
export async function requireSameOrigin(): Promise<void> {
  const given = await headers();
  const site = given.get("sec-fetch-site");
  const isOurs = site === null ? given.get("origin") === env().ORIGIN : site === "same-origin";
  if (!isOurs) throw new ServiceError("forbidden", "This form was sent from another site. Open the page here and send it again.");
}
