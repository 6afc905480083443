import { classNames } from "./class-names.ts";

const sizes = {
  xs: "size-5 text-[0.625rem]",
  sm: "size-7 text-fine",
  md: "size-8 text-small",
  lg: "size-12 text-title",
  xl: "size-20 text-display",
} as const;

const tiles = ["bg-tile-1", "bg-tile-2", "bg-tile-3", "bg-tile-4", "bg-tile-5", "bg-tile-6"] as const;

export type AvatarProps = Readonly<{
  name: string;
  src?: string | undefined;
  size?: keyof typeof sizes;
  kind?: "person" | "organization" | "app";
}>;

/** Decorative, because the name is always beside the picture. */
export function Avatar({ name, src, size = "md", kind = "person" }: AvatarProps) {
  const className = classNames("shrink-0 select-none", kind === "person" ? "rounded-full" : "rounded-control", sizes[size]);
  if (src) {
    // biome-ignore lint/performance/noImgElement: already re-encoded at its size by core/images, and no second optimizer is run
    return <img src={src} alt="" className={classNames(className, "object-cover")} />;
  }
  return (
    <span aria-hidden="true" className={classNames(className, "grid place-items-center font-semibold text-white", tileOf(name))}>
      {Array.from(name.trim())[0]?.toUpperCase() ?? "?"}
    </span>
  );
}

function tileOf(name: string): string {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return tiles[sum % tiles.length] ?? tiles[0];
}

/** The ID gives each new picture its own URL. */
export function avatarSrc(handle: string, avatarId: string | null | undefined): string {
  const path = `/avatars/${encodeURIComponent(handle)}`;
  return avatarId ? `${path}?v=${avatarId}` : path;
}
