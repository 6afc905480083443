import { z } from "zod";
import type { Transport } from "../client/transport.ts";
import { type Asked, part } from "../client/whose.ts";
import { type OpenedRelay, openedRelaySchema, type RelayRecord, relayRecordSchema } from "./schemas.ts";

const BASE = "/api/settings/relays";

/** Public addresses on the service for receivers that have none. They take the scope `webhooks`. */
export function relaysOf({ request }: Transport) {
  return {
    /** All of the caller's, by name. */
    list: ({ signal }: Asked = {}): Promise<RelayRecord[]> =>
      request("GET", BASE, { schema: z.array(relayRecordSchema), signal }),

    /**
     * Opens a relay, or renews it for another 72 hours: its address stays as long as that is done in time. `listenToRelay` does it by itself.
     * @throws ApiError `invalid_request` (the name), `conflict` (too many)
     */
    open: (name: string, { signal }: Asked = {}): Promise<OpenedRelay> =>
      request("PUT", `${BASE}/${part(name)}`, { schema: openedRelaySchema, signal }),

    async get(name: string, { signal }: Asked = {}): Promise<RelayRecord> {
      return (await request("GET", `${BASE}/${part(name)}`, { schema: z.object({ relay: relayRecordSchema }), signal })).relay;
    },

    /** Its address reaches nobody any more, and what waits there is given up. */
    async close(name: string, { signal }: Asked = {}): Promise<void> {
      await request("DELETE", `${BASE}/${part(name)}`, { signal });
    },
  };
}
