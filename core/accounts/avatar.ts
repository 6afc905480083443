import { env } from "../env.ts";
import { avatarSvg } from "../images/avatar-svg.ts";
import { findImage } from "../images/stored-image.ts";
import { findOwner } from "./handles/find-owner.ts";

export function avatarUrl(handle: string): string {
  return `${env().ORIGIN}/avatars/${handle}`;
}

type Avatar = { contentType: string; bytes: Uint8Array };

/** Handles without an owner have a picture too, because pages also show deleted users. */
export async function findAvatar(handle: string): Promise<Avatar> {
  const owner = await findOwner(handle);
  const stored = owner?.avatarId ? await findImage(owner.avatarId) : undefined;
  if (stored) return stored;
  const svg = avatarSvg(owner?.fullName ?? handle.slice(0, 100), owner?.id ?? handle.toLowerCase());
  return { contentType: "image/svg+xml; charset=utf-8", bytes: Buffer.from(svg) };
}
