import packageJson from "../../package.json" with { type: "json" };
import { OutboundFailure } from "./request.ts";

/** These headers frame the message or name the host: a caller that sets one could split one request into two, or reach another site. */
const own = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers to send, with names in lower case; a line break in a value would start a header of its author's choice. */
export function requestHeaders(given: Record<string, string> = {}): Record<string, string> {
  const headers: Record<string, string> = {
    "user-agent": `Keyhook/${packageJson.version}`,
    accept: "*/*",
    "accept-encoding": "identity",
  };
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key) || own.has(key))
      throw OutboundFailure.blocked("one of the headers may not be set");
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw OutboundFailure.blocked(`the header ${key} holds characters that cannot be sent`);
    headers[key] = value;
  }
  return headers;
}
