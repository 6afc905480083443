import { type BadgeSize, type BadgeTheme, badgeSizes, drawBadge } from "./draw-badge.ts";

export const badgePath = (size: BadgeSize, theme: BadgeTheme): string => `/badges/sign-in-${size}-${theme}.svg`;

type BadgeHtml = Readonly<{ origin: string; brand: string; size: BadgeSize }>;

export function badgeHtml({ origin, brand, size }: BadgeHtml, href = "/sign-in"): string {
  const { label, widthPx, heightPx } = drawBadge(brand, size, "light");
  return `<a href="${href}">
  <picture>
    <source
      media="(prefers-color-scheme: dark)"
      srcset="${origin}${badgePath(size, "dark")}"
    />
    <img
      src="${origin}${badgePath(size, "light")}"
      alt="${attribute(label)}"
      width="${widthPx}"
      height="${heightPx}"
    />
  </picture>
</a>
`;
}

export function parseBadgeName(name: string): { size: BadgeSize; theme: BadgeTheme } | undefined {
  const [, size, theme] = /^sign-in-([a-z]+)-(light|dark)\.svg$/.exec(name) ?? [];
  const known = badgeSizes.find((one) => one === size);
  return known && { size: known, theme: theme as BadgeTheme };
}

const attribute = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
