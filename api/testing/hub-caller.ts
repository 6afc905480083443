import type { Scope } from "@keyhook/sdk";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/create-personal-access-token.ts";

export type Caller = TestPerson & { accessToken: string };

/** A person with a token of their own making. */
export async function someCaller(...scopes: Scope[]): Promise<Caller> {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes: scopes.length > 0 ? scopes : (["manage-repos"] as Scope[]), expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input, from);
  return { ...person, accessToken: token };
}

/** The lines of a commit (docs/specification/repositories-and-git.md#commits-over-the-api). */
export const ndjson = (...lines: unknown[]): string => lines.map((line) => JSON.stringify(line)).join("\n");

export const header = (changes: Record<string, unknown> = {}) => ({
  key: "header",
  value: { summary: "Change files", ...changes },
});

export const fileLine = (path: string, content = path) => ({
  key: "file",
  value: { path, content: Buffer.from(content).toString("base64"), encoding: "base64" },
});
