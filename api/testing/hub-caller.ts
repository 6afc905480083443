import type { Scope } from "@keyhook/sdk";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";

export type Caller = TestPerson & { accessToken: string };

export async function someCaller(...scopes: Scope[]): Promise<Caller> {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes: scopes.length > 0 ? scopes : (["manage-repos"] as Scope[]), expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input, from);
  return { ...person, accessToken: token };
}

export async function sendAs(caller: Caller | undefined, method: string, url: string, body?: unknown) {
  const response = await fetch(url, {
    method,
    headers: {
      ...(caller && { authorization: `Bearer ${caller.accessToken}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

export const ndjson = (...lines: unknown[]): string => lines.map((line) => JSON.stringify(line)).join("\n");

export const header = (changes: Record<string, unknown> = {}) => ({
  key: "header",
  value: { summary: "Change files", ...changes },
});

export const fileLine = (path: string, content = path) => ({
  key: "file",
  value: { path, content: Buffer.from(content).toString("base64"), encoding: "base64" },
});
