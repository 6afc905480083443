import { runAdmin } from "./run-admin.ts";

export type Caller = <T>(method: string, path: string, body: unknown, contentType?: string) => Promise<T>;

/** Calls the API as somebody, as a program of theirs would, with a token that ends tomorrow. */
export function callAs(username: string, origin: string, scopes: string): Promise<Caller> {
  return callWith(["--user", username, "--scopes", scopes, "--expires", "1", "--name", "Samples"], origin);
}

/** The same with a token that lasts: a webhook reads only what the token that made it reads, and stops when that token ends. */
export function callToMakeWebhooks(username: string, origin: string): Promise<Caller> {
  return callWith(["--user", username, "--scopes", "webhooks read-repos", "--name", "Sample webhooks"], origin);
}

async function callWith(asked: string[], origin: string): Promise<Caller> {
  const { token } = await runAdmin<{ token: string }>("token", "create", ...asked);
  return async (method, path, body, contentType = "application/json") => {
    const answer = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": contentType },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return JSON.parse(text || "{}");
  };
}
