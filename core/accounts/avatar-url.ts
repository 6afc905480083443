import { env } from "../env.ts";

/** The absolute address of the picture of a user or an organization: the stored one, or one made from the name. */
export function avatarUrl(handle: string): string {
  return `${env().ORIGIN}/avatars/${handle}`;
}
