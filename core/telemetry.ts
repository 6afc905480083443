import { type Channel, channel } from "node:diagnostics_channel";
import type { PartyKind } from "./fair-queue/request-pace.ts";
import { requestContext } from "./log.ts";

/** Code publishes events without knowing the listeners. Without a listener, only a flag is checked. */

type RequestSeen = { method: string; door: RequestDoor; status: number; milliseconds: number; isAborted: boolean };
export type RequestDoor = "page" | "api" | "git" | "oauth" | "asset";

/** Published when the process was so busy that a request waited or was refused (S137). */
type PacedSeen = { party: PartyKind; outcome: "waited" | "refused" };

export type FanOutSeen = {
  startedAt: Date;
  milliseconds: number;
  events: readonly { id: string; traceparent: string | null }[];
  deliveries: number;
};

export type AttemptSeen = {
  deliveryId: string;
  webhookId: string;
  eventId: string;
  kind: string;
  outcome: string;
  status: number | null;
  isJob: boolean;
  startedAt: Date;
  milliseconds: number;
  timings: { dnsMs: number | null; connectMs: number | null; tlsMs: number | null; firstByteMs: number } | null;
  traceparent: string | null;
};

type Typed<T> = Pick<Channel, "hasSubscribers"> & {
  publish(seen: T): void;
  subscribe(listener: (seen: T) => void): () => void;
};

function typed<T>(name: string): Typed<T> {
  const one = channel(name);
  return {
    get hasSubscribers() {
      return one.hasSubscribers;
    },
    publish: (seen) => one.publish(seen),
    subscribe(listener) {
      const heard = (seen: unknown) => listener(seen as T);
      one.subscribe(heard);
      return () => void one.unsubscribe(heard);
    },
  };
}

export const requestsSeen = typed<RequestSeen>("keyhook.request");
export const pacedSeen = typed<PacedSeen>("keyhook.paced");
export const fanOutsSeen = typed<FanOutSeen>("keyhook.fan-out");
export const attemptsSeen = typed<AttemptSeen>("keyhook.attempt");
/** A second connection within a transaction is a bug of this service. */
export const secondConnectionsSeen = typed<Error>("keyhook.second-connection");

export const rejectionsSeen = typed<unknown>("keyhook.rejection");

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export const isTraceparent = (text: unknown): text is string => typeof text === "string" && TRACEPARENT.test(text);

export const currentTraceparent = (): string | null => requestContext.getStore()?.traceparent ?? null;
