import type { IncomingHttpHeaders } from "node:http";
import type { RequestOrigin } from "../audit/request-origin.ts";
import { CLIENT_ADDRESS_HEADER } from "./client-address.ts";

const USER_AGENT_LENGTH = 400;

/** Where a request behind `server.ts` came from, by its headers: Node's, or the `Headers` of a page or a Web handler. */
export function requestOriginOf(headers: IncomingHttpHeaders | Headers): RequestOrigin {
  const read = (name: string) => (headers instanceof Headers ? headers.get(name) : headers[name]);
  const ip = read(CLIENT_ADDRESS_HEADER);
  const userAgent = read("user-agent");
  return {
    ip: typeof ip === "string" ? ip : null,
    userAgent: typeof userAgent === "string" ? userAgent.slice(0, USER_AGENT_LENGTH) : null,
  };
}
