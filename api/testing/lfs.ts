import { createHash, randomBytes } from "node:crypto";
import type { Scope } from "@keyhook/sdk";
import { repoPath } from "@keyhook/sdk";
import { from, signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { createPersonalAccessToken } from "#core/accounts/tokens/personal-access-tokens.ts";
import type { Repo } from "#core/hub/repos/repo.ts";

export async function somebodyWithToken(...scopes: Scope[]): Promise<TestPerson & { accessToken: string }> {
  const person = await signedInPerson();
  const input = { name: "laptop", scopes, expiresInDays: 1 };
  const { token } = await createPersonalAccessToken(person.actor, person.id, input, from);
  return { ...person, accessToken: token };
}

export type TestObject = { oid: string; size: number; content: Buffer };

export function someObject(content: Buffer | string | number = randomBytes(2_000)): TestObject {
  const bytes = typeof content === "number" ? randomBytes(content) : Buffer.from(content);
  return { oid: createHash("sha256").update(bytes).digest("hex"), size: bytes.length, content: bytes };
}

export type BatchAction = { href: string; header?: Record<string, string>; expires_in: number };
export type BatchObject = {
  oid: string;
  size: number;
  authenticated?: boolean;
  actions?: { upload?: BatchAction; download?: BatchAction; verify?: BatchAction };
  error?: { code: number; message: string };
};

export async function askBatch(
  origin: string,
  repo: Pick<Repo, "type" | "fullName">,
  body: unknown,
  { accessToken, headers = {} }: { accessToken?: string; headers?: Record<string, string> } = {},
) {
  const basic = accessToken && `Basic ${Buffer.from(`git:${accessToken}`).toString("base64")}`;
  const response = await fetch(`${origin}${repoPath(repo.type, repo.fullName)}.git/info/lfs/objects/batch`, {
    method: "POST",
    headers: {
      accept: "application/vnd.git-lfs+json",
      "content-type": "application/vnd.git-lfs+json; charset=utf-8",
      ...(basic && { authorization: basic }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as { transfer: string; message?: string; error?: string; objects: BatchObject[] };
  return { status: response.status, headers: response.headers, ...answer };
}

const idOf = ({ oid, size }: TestObject) => ({ oid, size });

export async function actionsFor(
  origin: string,
  repo: Pick<Repo, "type" | "fullName">,
  operation: "download" | "upload",
  objects: TestObject[],
  { accessToken, transfers = ["basic"] }: { accessToken?: string; transfers?: string[] } = {},
): Promise<BatchObject[]> {
  const body = { operation, transfers, objects: objects.map(idOf) };
  const answer = await askBatch(origin, repo, body, accessToken === undefined ? {} : { accessToken });
  if (answer.status !== 200) throw new Error(`the batch was answered ${answer.status}: ${answer.message}`);
  return answer.objects;
}
