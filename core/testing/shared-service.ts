import { afterAll, inject } from "vitest";
import { closeConnections } from "../db.ts";
import { provideSettings } from "../env.ts";
import type { SharedService } from "./start-service.ts";

export const service = {
  origin: "",
  output: async (): Promise<string> => (await fetchService()).output,
};

async function fetchService(): Promise<SharedService> {
  const answer = await fetch(inject("serviceAddress"));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json() as Promise<SharedService>;
}

const { origin, settings } = await fetchService();
service.origin = origin;
provideSettings({ ...settings, LOG_LEVEL: "silent" });
afterAll(closeConnections);
