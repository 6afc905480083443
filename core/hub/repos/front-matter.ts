/** More than a person writes. */
export const FRONT_MATTER_MAX_CHARACTERS = 64 * 1024;

/** Blank lines above it are ignored, as in the public hub and its clients. */
const FRONT_MATTER = /^\u{feff}?\s*---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/u;

/** The YAML between two lines of `---` at the top of a Markdown text, if there is any. */
export const frontMatterOf = (text: string): string | undefined => FRONT_MATTER.exec(text)?.[1];

/** A Markdown text without its front matter. */
export const withoutFrontMatter = (text: string): string => text.replace(FRONT_MATTER, "");
