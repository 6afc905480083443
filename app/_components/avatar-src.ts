/** The picture of a user or an organization, drawn by us where there is none; the id makes a new picture a new address. */
export function avatarSrc(handle: string, avatarId: string | null | undefined): string {
  const path = `/avatars/${encodeURIComponent(handle)}`;
  return avatarId ? `${path}?v=${avatarId}` : path;
}
