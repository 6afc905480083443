import { plainText } from "../../accounts/plain-text.ts";
import { env } from "../../env.ts";
import { ServiceError } from "../../errors.ts";
import { isLoopbackHost } from "../client-identity.ts";

const MAX_CHARACTERS = 2000;

/**
 * Checks the URL of an app's own server that this service calls: for its keys, or for logout notices. Whether the address to which its name
 * resolves may be called is decided at each call (S77).
 * @throws ServiceError `invalid_request` with the field.
 */
export function parseServerAddress(value: string, field: "jwksUri" | "backchannelLogoutUri"): string {
  const refuse = (sentence: string) => new ServiceError("invalid_request", sentence, { field });
  const text = plainText(field, value, MAX_CHARACTERS).trim();
  const url = URL.parse(text);
  if (!url || !mayBeCalled(url) || /\s/.test(text)) throw refuse("Enter an address that begins with https://.");
  if (url.username || url.password) throw refuse("Leave the user name and password out of the address.");
  if (text.includes("#")) throw refuse("Leave out the # and what follows: it is never sent to a server.");
  if (url.origin === env().ORIGIN) throw refuse("This is an address of our own. Enter one of your app's server.");
  return url.href;
}

/** Only TLS; but on a developer's machine, where this service runs on loopback too, also plain http to loopback. */
function mayBeCalled({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return hostname !== "";
  return protocol === "http:" && isLoopbackHost(hostname) && isLoopbackHost(new URL(env().ORIGIN).hostname);
}
