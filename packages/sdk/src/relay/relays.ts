import { z } from "zod";
import { type Asked, part } from "../client/addresses.ts";
import type { Transport } from "../client/transport.ts";
import { type OpenedRelay, openedRelaySchema, type RelayRecord, relayRecordSchema } from "./schemas.ts";

const BASE = "/api/settings/relays";

/**
 * The operations of `client.relays`.
 *
 * Relays: public URLs on the service for receivers that have none. The token needs the scope `webhooks`.
 * @group Client @useDeclaredType
 */
export type RelaysClient = ReturnType<typeof relaysOf>;

export function relaysOf({ request }: Transport) {
  return {
    /** Lists the caller's relays by name. */
    list: ({ signal }: Asked = {}): Promise<RelayRecord[]> =>
      request("GET", BASE, { schema: z.array(relayRecordSchema), signal }),

    /**
     * Opens a relay, or renews it for another 72 hours. It keeps its URL as long as it is renewed in time, which {@link listenToRelay}
     * does.
     * @throws {@link ApiError} `invalid_request`: the name cannot be used; `conflict`: the caller has too many relays.
     */
    open: (name: string, { signal }: Asked = {}): Promise<OpenedRelay> =>
      request("PUT", `${BASE}/${part(name)}`, { schema: openedRelaySchema, signal }),

    /** Reads one relay. @throws {@link ApiError} with status 404 */
    async get(name: string, { signal }: Asked = {}): Promise<RelayRecord> {
      return (await request("GET", `${BASE}/${part(name)}`, { schema: z.object({ relay: relayRecordSchema }), signal })).relay;
    },

    /** Closes a relay for good. Requests that wait in it are deleted. */
    async close(name: string, { signal }: Asked = {}): Promise<void> {
      await request("DELETE", `${BASE}/${part(name)}`, { signal });
    },
  };
}
