import { hash } from "node:crypto";

export const avatarColours = [
  "#8a5a00",
  "#9a4b1c",
  "#a63c3c",
  "#a23a6b",
  "#7d4aa8",
  "#5753b5",
  "#2f62b3",
  "#1f6f95",
  "#14736f",
  "#2b7340",
  "#5a6b14",
  "#64605a",
] as const;

/** @param seed must not change with the name */
export function avatarSvg(name: string, seed: string): string {
  const digest = hash("sha256", seed, "buffer");
  const colour = avatarColours[digest.readUInt16BE(0) % avatarColours.length];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256" width="256" height="256" role="img"><title>${escapeXml(name)}</title><rect width="256" height="256" fill="${colour}"/><text x="128" y="128" dy=".35em" fill="#fff" font-family="Inter, system-ui, sans-serif" font-size="104" font-weight="600" text-anchor="middle">${escapeXml(initials(name))}</text></svg>`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

export function initials(name: string): string {
  const words = name.split(/[\s._-]+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  const letters = ends.map((word) => firstLetter(word ?? "")).join("");
  return letters === "" ? "?" : letters.toUpperCase();
}

function firstLetter(word: string): string {
  for (const { segment } of graphemes.segment(word)) if (/[\p{L}\p{N}]/u.test(segment)) return segment;
  return "";
}

function escapeXml(text: string): string {
  // Characters that XML 1.0 forbids would make the whole picture unreadable.
  const legal = text.toWellFormed().replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "");
  return legal.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
