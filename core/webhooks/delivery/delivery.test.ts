import { eventPayloadSchema, webhookPayloadSchema } from "@keyhook/sdk";
import { expect, it } from "vitest";
import { db, pool } from "../../db.ts";
import { newId } from "../../ids.ts";
import { deliveryBody } from "./delivery.ts";

it("S124 a body is the recorded text, with its order of keys, followed by the webhook", async () => {
  const [id, repoId, ownerId, webhookId] = [newId(), newId(), newId(), newId()];
  const payload = eventPayloadSchema.parse({
    event: { scope: "repo", action: "create" },
    repo: {
      type: "model",
      name: "ada/tides",
      id: repoId,
      private: false,
      url: { web: "https://hub.example.com/ada/tides", api: "https://hub.example.com/api/models/ada/tides" },
      owner: { id: ownerId },
      tags: ["b", "a", 'with "quotes" and ü'],
    },
  });
  await db().event.create({
    data: { id, scope: "repo", action: "create", repoId, repoType: "model", ownerId, isPrivate: false, payload },
  });
  const { rows } = await pool().query<{ text: string }>("select payload::text as text from event where id = $1", [id]);
  const text = rows[0]?.text ?? "";
  expect(text).toBe(JSON.stringify(payload));
  const body = deliveryBody(text, webhookId);
  expect(body).toBe(`${JSON.stringify(payload).slice(0, -1)},"webhook":{"id":"${webhookId}","version":3}}`);
  expect(webhookPayloadSchema.parse(JSON.parse(body)).webhook.id).toBe(webhookId);
});

it("S124 a body keeps the spelling of numbers, spaces and letters", () => {
  const event = '{"n": 1.0, "big": 12345678901234567890, "e":1e2 ,"text":"\\u00e9é\\/", "twice": 1, "twice": 2}';
  expect(deliveryBody(event, "w")).toBe(`${event.slice(0, -1)},"webhook":{"id":"w","version":3}}`);
});
