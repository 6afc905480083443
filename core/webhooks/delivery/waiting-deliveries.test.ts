import { afterEach, expect, it, vi } from "vitest";
import { lanes } from "../vocabulary.ts";
import type { ClaimedDelivery } from "./delivery.ts";
import { WaitingDeliveries } from "./waiting-deliveries.ts";

afterEach(() => void vi.useRealTimers());

it("S129 a delivery that has waited too long is not sent, even before its claim is released", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const waiting = new WaitingDeliveries();
  const [old, young] = ["old", "young"].map((id) => ({ id, host: "a", lane: lanes.first }) as ClaimedDelivery);
  const ids = (take: (use: (delivery: ClaimedDelivery) => void) => void) => {
    const taken: string[] = [];
    take(({ id }) => taken.push(id));
    return taken;
  };
  waiting.add(old as ClaimedDelivery);
  vi.advanceTimersByTime(900);
  waiting.add(young as ClaimedDelivery);
  vi.advanceTimersByTime(200);
  expect(ids((use) => waiting.takeSendable(null, () => true, use))).toEqual(["young"]);
  expect(ids((use) => waiting.takeStale(use))).toEqual(["old"]);
});
