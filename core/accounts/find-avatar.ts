import { avatarSvg } from "../images/avatar-svg.ts";
import { findImage } from "../images/find-image.ts";
import { findOwner } from "./handles/find-owner.ts";

export type Avatar = { contentType: string; bytes: Uint8Array };

/**
 * The picture for a handle: the stored one, or one drawn from the name. Unused handles get one too, so that pages about deleted
 * users keep theirs.
 */
export async function findAvatar(handle: string): Promise<Avatar> {
  const owner = await findOwner(handle);
  const stored = owner?.avatarId ? await findImage(owner.avatarId) : undefined;
  if (stored) return stored;
  const svg = avatarSvg(owner?.fullName ?? handle.slice(0, 100), owner?.id ?? handle.toLowerCase());
  return { contentType: "image/svg+xml; charset=utf-8", bytes: Buffer.from(svg) };
}
