import { invalidRequest } from "#core/errors.ts";
import type { Claims, Preset } from "./preset.ts";

export const oidc: Preset = {
  label: "Another issuer",
  fields: [
    {
      name: "issuer",
      label: "Issuer",
      hint: "Exactly the `iss` claim of its tokens. Its keys are found through `/.well-known/openid-configuration`.",
      placeholder: "https://ci.example.com",
      isRequired: true,
      shape: /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      problem: "Enter an https URL without a query, such as https://ci.example.com.",
    },
    {
      name: "claims",
      label: "Claims",
      hint: "One `name = value` per line. All must match. Use at least one besides `sub`. Prefer IDs to names, because IDs are never reused.",
      placeholder: "project_id = 20\nref = refs/heads/main",
      isRequired: true,
      shape: /^[^\0]{1,4000}$/,
      problem: "Enter one claim per line, such as project_id = 20.",
    },
  ],
  read: ({ issuer = "", claims = "" }) => {
    if (isIssuerOfPreset(issuer)) {
      const sentence =
        "This issuer has its own form, which also records the repository's or project's IDs. Choose that form above.";
      throw invalidRequest(sentence, "issuer");
    }
    return { issuer, claims: readClaimLines(claims) };
  },
  immutable: [],
  run: ["sub"],
};

/** The protocol checks these claims. As conditions, they would either always match or never. */
const PROTOCOL_CLAIMS = new Set(["iss", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce"]);
const CLAIMS_MAX = 20;
const CLAIM_MAX_CHARACTERS = 500;

function readClaimLines(text: string): Claims {
  const refuse = (sentence: string) => invalidRequest(sentence, "claims");
  const claims = new Map<string, string>();
  for (const line of text.split(/\r?\n/).filter((one) => one.trim() !== "")) {
    const at = line.indexOf("=");
    const [name, value] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()];
    if (!/^\S+$/.test(name) || value === "") throw refuse("Enter each claim as name = value, one per line.");
    if (PROTOCOL_CLAIMS.has(name)) throw refuse(`${name} is always checked. Use claims that identify the job.`);
    // An object would lose this property, and the condition with it.
    if (name === "__proto__") throw refuse(`${name} cannot be a claim's name here.`);
    if (claims.has(name)) throw refuse(`${name} occurs twice.`);
    if (name.length > 100 || value.length > CLAIM_MAX_CHARACTERS) throw refuse("This claim is too long.");
    claims.set(name, value);
  }
  if (claims.size > CLAIMS_MAX) throw refuse(`Use at most ${CLAIMS_MAX} claims.`);
  // S98: a subject is composed of parts that may be renamed, often by the issuer's own users.
  if (![...claims.keys()].some((name) => name !== "sub")) throw refuse("Use at least one claim besides sub.");
  return Object.fromEntries(claims);
}

function isIssuerOfPreset(issuer: string): boolean {
  return /^https:\/\/(token\.actions\.githubusercontent\.com|gitlab\.com|oidc\.circleci\.com|api\.bitbucket\.org)(\/|$)/i.test(
    issuer,
  );
}
