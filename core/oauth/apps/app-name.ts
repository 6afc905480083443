import { displayText } from "#core/accounts/plain-text.ts";
import { env } from "#core/env.ts";
import { invalidRequest } from "#core/errors.ts";

const APP_NAME_MAX_CHARACTERS = 60;

// Blank letters, such as the Hangul filler, count as text but are invisible.
const BLANK = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Refuses a name that could be mistaken for the service's own (S28). */
export function parseAppName(value: unknown): string {
  const { BRAND_NAME } = env();
  const name = displayText("name", value, { maxCharacters: APP_NAME_MAX_CHARACTERS });
  if (!/[\p{L}\p{N}\p{S}]/u.test(name.replace(BLANK, ""))) throw invalidRequest("Enter a readable name.", "name");
  if (isLookAlike(name, BRAND_NAME)) {
    const description = `Choose a name that users cannot confuse with ${BRAND_NAME} itself.`;
    throw invalidRequest(description, "name");
  }
  return name;
}

/** The comparison is coarse, because a false positive costs the owner only one retry (S28). */
export function isLookAlike(name: string, brand: string): boolean {
  const target = skeleton(brand);
  if (target === "") return false;
  const words = name
    .split(/[\p{Z}\p{P}\p{S}]+/u)
    .map(skeleton)
    .filter(Boolean);
  if (hasRun(words, target)) return true;
  // "Hub" in "Hubble" is not a look-alike.
  return target.length >= LONG_BRAND && skeleton(name).includes(target);
}

const LONG_BRAND = 5;

function hasRun(words: readonly string[], target: string): boolean {
  return words.some((_, start) => {
    let joined = "";
    for (let at = start; at < words.length && joined.length < target.length; at++) joined += words[at];
    return joined === target;
  });
}

function skeleton(text: string): string {
  const letters = text.normalize("NFKD").replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
  const folded = Array.from(
    letters,
    (letter) => likeness.get(letter) ?? likeness.get(letter.toLowerCase()) ?? letter.toLowerCase(),
  );
  return folded
    .join("")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");
}

// Each letter is looked up as written, then in lower case: some capitals do not resemble their lower-case letters.
const likeness = new Map(
  Object.entries({
    a: "4@аɑαΑаᴀ",
    b: "8вВβΒʙƀЬьᏏ",
    c: "сϲᴄⅽ¢",
    d: "ԁɗđᴅⅾ",
    e: "3еєεΕᴇɛə€",
    f: "ꜰƒϝ",
    g: "9ɡɢցԍ",
    h: "нНһΗհʜħᏂ",
    j: "јϳᴊյ",
    k: "кКκΚᴋƙқӄҝᏦ",
    l: "1i|!ıɩіιΙІӀłʟɪїⅼⵏ",
    m: "мМΜᴍⅿ",
    n: "ηΝпոռɴŋ",
    o: "0оοΟσօ০०೦ഠᴏøө",
    p: "рРρΡᴘþ",
    q: "ԛգ",
    r: "гᴦʀɾ",
    s: "5$ѕꜱƽ",
    t: "7тТτΤᴛŧ",
    u: "υսᴜμ",
    v: "νѵᴠⅴ",
    w: "ԝшᴡωա",
    x: "хХχΧⅹ×",
    y: "уУүҮγʏΥყ¥",
    z: "2ᴢΖʐ",
  }).flatMap(([letter, likes]) => Array.from(likes, (like) => [like, letter] as const)),
);
