export const FRONT_MATTER_MAX_CHARACTERS = 64 * 1024;

/** Ignores blank lines before the front matter, like the public hub and its clients. */
const FRONT_MATTER = /^\u{feff}?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/u;

export const frontMatterOf = (text: string): string | undefined => FRONT_MATTER.exec(text)?.[1];

export const withoutFrontMatter = (text: string): string => text.replace(FRONT_MATTER, "");
