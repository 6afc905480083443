import { expect, it } from "vitest";
import type { ClaimedDelivery } from "./delivery.ts";
import { DeliverySlots } from "./slots.ts";

const deliveryTo = (ownerId: string, host: string) => ({ ownerId, webhookId: `${ownerId} ${host}`, host }) as ClaimedDelivery;

it("S128 an owner with many targets leaves as many slots free as the owner holds", () => {
  const slots = new DeliverySlots({ total: 16, waiting: 4, perWebhook: 8, perHost: { good: 8, unknown: 3, bad: 2 } });
  const taken = (ownerId: string) => {
    let sent = 0;
    let waiting = 0;
    for (let nth = 0; nth < 100; nth++) {
      const delivery = deliveryTo(ownerId, `${ownerId}${nth % 10}.example`);
      if (!slots.mayTake(delivery)) continue;
      const maySend = slots.maySend(delivery);
      slots.wait(delivery);
      slots.show(delivery.host, "good");
      if (maySend) slots.endWaiting(delivery);
      if (maySend) sent++;
      else waiting++;
    }
    return { sent, waiting };
  };
  for (const ownerId of ["a", "b", "c"]) {
    for (let nth = 0; nth < 10; nth++) {
      const delivery = deliveryTo(ownerId, `${ownerId}${nth}.example`);
      slots.wait(delivery);
      slots.endWaiting(delivery);
      slots.endSending(delivery, "good", 1);
      slots.leave();
    }
  }
  expect(taken("a")).toEqual({ sent: 8, waiting: 8 });
  expect(taken("b")).toEqual({ sent: 4, waiting: 4 });
  expect(taken("c")).toEqual({ sent: 2, waiting: 2 });
});
