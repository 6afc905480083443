import { env } from "../env.ts";

/** The absolute URL of the picture of a user or an organization: a stored one, or one drawn from the name. */
export function avatarUrl(handle: string): string {
  return `${env().ORIGIN}/avatars/${handle}`;
}
