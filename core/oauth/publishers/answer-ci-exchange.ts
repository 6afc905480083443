import type { IncomingMessage, ServerResponse } from "node:http";
import { ProtocolError } from "../protocol-request.ts";

/** The exchange of a CI job's ID token (wire.md 1.12). The skeleton only: what it does comes with the trusted publishers. */
export async function answerCiExchange(
  _req: IncomingMessage,
  _res: ServerResponse,
  _form: URLSearchParams,
  _clientAddress: string,
): Promise<void> {
  throw new ProtocolError(400, "invalid_grant", "no publisher is trusted with this token");
}
