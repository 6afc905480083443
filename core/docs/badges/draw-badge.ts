import inter from "./inter-semibold.json" with { type: "json" };

export const badgeSizes = ["sm", "md", "lg"] as const;
export const badgeThemes = ["light", "dark"] as const;
export type BadgeSize = (typeof badgeSizes)[number];
export type BadgeTheme = (typeof badgeThemes)[number];

type Badge = Readonly<{ svg: string; label: string; widthPx: number; heightPx: number }>;

type Measures = { heightPx: number; fontPx: number; paddingPx: number; markPx: number; gapPx: number };
const measures: Record<BadgeSize, Measures> = {
  sm: { heightPx: 32, fontPx: 13, paddingPx: 10, markPx: 16, gapPx: 8 },
  md: { heightPx: 40, fontPx: 15, paddingPx: 14, markPx: 20, gapPx: 10 },
  lg: { heightPx: 48, fontPx: 17, paddingPx: 18, markPx: 24, gapPx: 12 },
};

/** The contrast with the background is at least 4.5:1 for text and 3:1 for the border and the mark. */
export const badgeColours: Record<BadgeTheme, Record<"ground" | "edge" | "ink" | "mark", string>> = {
  light: { ground: "#ffffff", edge: "#8a837a", ink: "#1c1917", mark: "#a8600a" },
  dark: { ground: "#1c1a18", edge: "#7b746c", ink: "#f3f1ee", mark: "#e0a458" },
};

/** A picture cannot load a font, so the text is drawn as outlines. */
export function drawBadge(brand: string, size: BadgeSize, theme: BadgeTheme): Badge {
  const { heightPx, fontPx, paddingPx, markPx, gapPx } = measures[size];
  const { ground, edge, ink, mark } = badgeColours[theme];
  const label = `Sign in with ${brand}`;
  const words = layOut(label, fontPx);
  const wordsAt = paddingPx + markPx + gapPx;
  const widthPx = Math.ceil(wordsAt + words.widthPx + paddingPx);
  // The capitals are centered, because readers judge the height of a line by them.
  const baseline = round((heightPx + (inter.capHeight / inter.unitsPerEm) * fontPx) / 2);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}" viewBox="0 0 ${widthPx} ${heightPx}" role="img" aria-labelledby="t">
<title id="t">${escaped(label)}</title>
<rect x=".5" y=".5" width="${widthPx - 1}" height="${heightPx - 1}" rx="8.5" fill="${ground}" stroke="${edge}"/>
<g transform="translate(${paddingPx} ${(heightPx - markPx) / 2}) scale(${round(markPx / 24)})" fill="none" stroke="${mark}" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><circle cx="14.25" cy="6" r="3.5"/><path d="M14.25 9.5v8a4 4 0 0 1-8 0v-2.25l-1.75 1.75"/><path d="M14.25 13.25h3.5"/></g>
<g transform="translate(${wordsAt} ${baseline})" fill="${ink}">${words.drawn}</g>
</svg>
`;
  return { svg, label, widthPx, heightPx };
}

type Words = { drawn: string; widthPx: number };
type Glyph = readonly [advance: number, outline: string];
const glyphs = new Map(Object.entries(inter.glyphs as unknown as Record<string, Glyph>));

function layOut(label: string, fontPx: number): Words {
  const outlines = [...label].map((character) => glyphs.get(character));
  if (!outlines.every((glyph) => glyph !== undefined)) return inReadersFont(label, fontPx);
  const scale = fontPx / inter.unitsPerEm;
  let at = 0;
  const paths = outlines.map(([advance, outline]) => {
    const path = outline && `<path transform="translate(${at})" d="${outline}"/>`;
    at += advance;
    return path;
  });
  return { drawn: `<g transform="scale(${scale.toFixed(6)})">${paths.join("")}</g>`, widthPx: at * scale };
}

function inReadersFont(label: string, fontPx: number): Words {
  const widthPx = [...label].reduce((sum, character) => sum + (character > "\u{2e7f}" ? 1 : 0.62), 0) * fontPx;
  const drawn = `<text font-family="Inter, system-ui, sans-serif" font-size="${fontPx}" font-weight="600" textLength="${round(widthPx)}" lengthAdjust="spacingAndGlyphs">${escaped(label)}</text>`;
  return { drawn, widthPx };
}

const round = (value: number): number => Math.round(value * 100) / 100;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[character] as string);
