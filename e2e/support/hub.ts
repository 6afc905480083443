import { expect } from "@playwright/test";
import { admin } from "./admin.ts";
import type { Demo } from "./demo.ts";
import type { Person } from "./sign-in-page.ts";

export type HubClient = {
  token: string;
  /** @returns the JSON of a request that must succeed */
  send<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
};

export async function hubClient(demo: Demo, { username }: Pick<Person, "username">, scopes: string): Promise<HubClient> {
  const { token = "" } = await admin(demo, "token", "create", "--user", username, "--scopes", scopes);
  return {
    token,
    async send(method, path, body) {
      const response = await fetch(demo.origin + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.ok, `${method} ${path}: ${response.status} ${text}`).toBe(true);
      return JSON.parse(text || "{}");
    },
  };
}
