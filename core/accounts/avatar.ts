import { env } from "../env.ts";
import { avatarSvg } from "../images/avatar-svg.ts";
import { findImage } from "../images/stored-image.ts";
import { findOwner } from "./handles/find-owner.ts";

/** The absolute URL of the picture of a user or an organization: a stored one, or one drawn from the name. */
export function avatarUrl(handle: string): string {
  return `${env().ORIGIN}/avatars/${handle}`;
}

type Avatar = { contentType: string; bytes: Uint8Array };

/** The picture for a handle: stored, or drawn from the name. Unused handles get one too, for pages about deleted users. */
export async function findAvatar(handle: string): Promise<Avatar> {
  const owner = await findOwner(handle);
  const stored = owner?.avatarId ? await findImage(owner.avatarId) : undefined;
  if (stored) return stored;
  const svg = avatarSvg(owner?.fullName ?? handle.slice(0, 100), owner?.id ?? handle.toLowerCase());
  return { contentType: "image/svg+xml; charset=utf-8", bytes: Buffer.from(svg) };
}
