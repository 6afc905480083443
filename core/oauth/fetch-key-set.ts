import type { JWKS } from "oidc-provider";
import { ServiceError } from "#core/errors.ts";
import { algorithmsOf } from "./client-keys.ts";
import { parseJwks } from "./client-metadata/parse-jwks.ts";
import { fetchForEngine } from "./fetch-for-engine.ts";

/**
 * Fetches a client's published key set as the engine will when it checks an assertion.
 * @throws ServiceError `invalid_request` with the field `jwksUri` and what went wrong.
 */
export async function fetchKeySet(url: string): Promise<JWKS> {
  const refuse = (reason: string) =>
    new ServiceError("invalid_request", `No keys could be read there: ${reason}.`, { field: "jwksUri" });
  const response = await fetchForEngine(url, { headers: { Accept: "application/json" } }).catch((error: Error) => {
    throw refuse(error.message);
  });
  if (response.status !== 200) throw refuse(`the server answered ${response.status}`);
  const set = parse(new Uint8Array(await response.arrayBuffer()), refuse);
  if (!set.keys.some((key) => algorithmsOf(key).length > 0)) throw refuse("there is no RSA, P-256 or Ed25519 key");
  return set;
}

function parse(body: Uint8Array, refuse: (reason: string) => ServiceError): JWKS {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw refuse("the answer is not JSON");
  }
  try {
    return parseJwks(value);
  } catch (error) {
    // The message already ends with a full stop.
    throw refuse((error as Error).message.replace(/\.$/, ""));
  }
}
