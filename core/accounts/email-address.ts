import { domainToASCII } from "node:url";
import { invalidRequest } from "../errors.ts";
import { plainText } from "./plain-text.ts";

/** Mail is sent to `address`. Comparisons use `canonical` (S91). */
export type EmailAddress = { address: string; canonical: string };

// RFC 5321 §4.5.3.1, in octets.
const LOCAL_MAX_CHARACTERS = 64;
const ADDRESS_MAX_CHARACTERS = 254;

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Only case is folded, because only the provider knows whether `a.b@` and `ab@` are one mailbox. The Kelvin sign U+212A is
 * refused, because its lower case is an ASCII letter, which would make two mailboxes one account.
 */
export function parseEmailAddress(value: unknown, field = "email"): EmailAddress {
  const email = readEmailAddress(plainText(field, value, 1_000));
  if (!email) throw invalidRequest("Enter an e-mail address, such as ada@example.com.", field);
  return email;
}

export function readEmailAddress(text: string): EmailAddress | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf("@");
  const local = trimmed.slice(0, at);
  const domain = at > 0 ? domainToASCII(trimmed.slice(at + 1).normalize("NFC")) : "";
  const address = `${local}@${domain}`;
  if (!LOCAL.test(local) || local.length > LOCAL_MAX_CHARACTERS) return undefined;
  if (!DOMAIN.test(domain) || address.length > ADDRESS_MAX_CHARACTERS) return undefined;
  return { address, canonical: address.toLowerCase() };
}
