import { env } from "#core/env.ts";
import { invalidRequest } from "#core/errors.ts";
import { plainText } from "../plain-text.ts";

const PASSWORD_MIN_CHARACTERS = 8;
const PASSWORD_MAX_CHARACTERS = 256;

// Of many good passwords, `bare` leaves only a few letters. They may equal a shorter name by chance.
const NAME_MIN_CHARACTERS = 4;

/** NIST SP 800-63B. `names` are the username, full name and email address of the password's owner. */
export function checkPassword(value: unknown, names: readonly string[], field = "password"): string {
  const password = plainText(field, value, 10_000);
  const length = [...password].length;
  if (length < PASSWORD_MIN_CHARACTERS) throw invalidRequest(`Use at least ${PASSWORD_MIN_CHARACTERS} characters.`, field);
  if (length > PASSWORD_MAX_CHARACTERS) throw invalidRequest(`Use at most ${PASSWORD_MAX_CHARACTERS} characters.`, field);
  if (isEasilyGuessed(password)) throw invalidRequest("This password is easy to guess. Choose another.", field);
  if (isMadeFromNames(password, [...names, env().BRAND_NAME])) {
    throw invalidRequest(
      "This password is based on your name, your e-mail address or the name of this service. Choose another.",
      field,
    );
  }
  return password;
}

export function presentedPassword(value: unknown, field = "password"): string {
  const password = plainText(field, value, PASSWORD_MAX_CHARACTERS * 4);
  if (password === "") throw invalidRequest("Enter the password.", field);
  return password;
}

function isEasilyGuessed(password: string): boolean {
  const isFewCharacters = new Set(password.toLowerCase()).size <= 3;
  const isDateOrNumber = /^\d{8,10}$/.test(password);
  return isFewCharacters || isDateOrNumber || isRun(password) || commonPasswords.has(bare(password));
}

function isRun(password: string): boolean {
  const steps = new Set(
    Array.from({ length: password.length - 1 }, (_, i) => password.charCodeAt(i + 1) - password.charCodeAt(i)),
  );
  return steps.size === 1;
}

function isMadeFromNames(password: string, names: readonly string[]): boolean {
  const core = bare(password);
  const parts = names.flatMap((name) => [name, name.split("@")[0] ?? "", ...name.split(/[\s@._-]+/)]);
  // The unchanged name is compared too, because `bare` leaves little of a name that is mostly digits.
  if (parts.some((name) => name.toLowerCase() === password.toLowerCase())) return true;
  return parts.map(bare).some((name) => name.length >= NAME_MIN_CHARACTERS && core === name);
}

const LOOK_ALIKES: Record<string, string> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

function bare(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/^[^\p{L}]+|(?<=\p{L})[^\p{L}]+$/gu, "")
    .replace(/[013457@$!]/g, (sign) => LOOK_ALIKES[sign] ?? "")
    .replace(/[^\p{L}]/gu, "");
}

/** Throttling (S115) protects against guessing. This list only stops the first dozen tries. */
const commonPasswords: ReadonlySet<string> = new Set(
  `
  password passwort motdepasse contrasena senha wachtwoord parola passw pass passpass passphrase mypassword thepassword
  letmein welcome iloveyou loveyou iloveu trustno changeme changethis default secret secrets test testing tester testtest
  admin administrator root toor master login signin user username guest hello hellohello goodbye whatever nothing
  qwerty qwertyuiop qwertz qwertzuiop azerty azertyuiop asdf asdfgh asdfghjkl yxcvbnm zxcvbnm zxcvbn qazwsx qazwsxedc qweasd
  qweasdzxc qwe qweqwe asdasd asd zaqwsx zaqxsw abc abcd abcde abcdef abcdefg abcdefgh abcabc aaaaaaaa abcdabcd
  football baseball basketball soccer hockey superman batman spiderman pokemon starwars dragon monkey princess sunshine
  shadow michael jennifer jordan charlie daniel jessica ashley nicole thomas matthew andrew anthony alexander samantha
  computer internet keyboard samsung google facebook linkedin microsoft windows apple iphone
  flower butterfly chocolate cheese banana orange summer winter spring autumn january february september october november december
  freedom liverpool chelsea arsenal barcelona juventus ferrari porsche mercedes mustang corvette yamaha harley
  access company office business private security killer hunter ranger buster tigger maverick phoenix
  love lovely lover baby babygirl angel angels blessed jesus jesuschrist heaven
  correcthorsebatterystaple correct horse battery staple
`
    .trim()
    .split(/\s+/),
);
