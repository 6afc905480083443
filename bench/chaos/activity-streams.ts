import { setTimeout as delay } from "node:timers/promises";
import type { DeliveryJson, DeliveryPageJson } from "@keyhook/sdk";
import { operatorCommand } from "#core/access/actor.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import { noOrigin } from "#core/audit/request-origin.ts";
import { ask } from "./measure.ts";
import type { ChaosService } from "./service.ts";

const STREAMS = 6;
const RETRY_MS = 3_000;

export async function followActivity(service: ChaosService, webhookId: string) {
  const input = { name: "streams", scopes: ["webhooks"], expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(operatorCommand, service.ownerId, input, noOrigin);
  const deliveries = `${service.running.origin}/api/settings/webhooks/${webhookId}/deliveries`;
  const headers = { authorization: `Bearer ${token}` };
  const ending = new AbortController();
  let resumed = 0;

  async function follow(delivered: Set<string>): Promise<void> {
    const countDelivered = ({ id, state }: DeliveryJson) => state === "delivered" && delivered.add(id);
    let { tail: last } = await readPage();
    for (let connections = 0; !ending.signal.aborted; await delay(RETRY_MS, undefined, { ref: false })) {
      try {
        const stream = await fetch(`${deliveries}/live`, {
          headers: { ...headers, "last-event-id": last },
          signal: ending.signal,
        });
        if (!stream.ok || !stream.body) continue;
        if (++connections > 1) resumed++;
        let text = "";
        for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
          const events = (text + chunk).split("\n\n");
          text = events.pop() ?? "";
          for (const event of events) {
            const [, data] = /^data: (.*)$/m.exec(event) ?? [];
            if (event.startsWith("event: delivery") && data) countDelivered(JSON.parse(data));
            if (event.startsWith("event: reset")) await readList(countDelivered);
            last = /^id: (.*)$/m.exec(event)?.[1] ?? last;
          }
        }
      } catch {} // the stream was cut off
    }
  }

  async function readPage(cursor = ""): Promise<DeliveryPageJson> {
    const answer = await fetch(`${deliveries}?limit=100${cursor && `&cursor=${cursor}`}`, { headers });
    return (await answer.json()) as DeliveryPageJson;
  }

  async function readList(countDelivered: (delivery: DeliveryJson) => void): Promise<void> {
    for (let older: string | null = ""; older !== null; ) {
      const page = await readPage(older);
      for (const delivery of page.deliveries) countDelivered(delivery);
      older = page.older;
    }
  }

  const views = Array.from({ length: STREAMS }, () => new Set<string>());
  const running = Promise.all(views.map(follow));
  return {
    async stop(): Promise<{ resumed: number; missed: number; shown: number }> {
      const rows = await ask<{ id: string }>(service, "select id from delivery where webhook_id = $1 and state = 'delivered'", [
        webhookId,
      ]);
      const countMissing = () => rows.filter(({ id }) => views.some((delivered) => !delivered.has(id))).length;
      for (const deadline = Date.now() + 15_000; countMissing() > 0 && Date.now() < deadline; ) await delay(200);
      const missed = countMissing();
      ending.abort();
      await running;
      return { resumed, missed, shown: rows.length };
    },
  };
}
