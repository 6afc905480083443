import { type ClientRecord, findClientRecord } from "../client-records.ts";
import { readConsent } from "./find-consent.ts";

/** An app as its users see it, for a user who allowed it; undefined for all others. */
export async function findAllowedApp(userId: string, clientId: string): Promise<ClientRecord | undefined> {
  return (await readConsent(userId, clientId)) && findClientRecord(clientId);
}
