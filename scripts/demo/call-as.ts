import { runAdmin } from "./run-admin.ts";

export type Caller = <T>(method: string, path: string, body: unknown, contentType?: string) => Promise<T>;

/** Calls the API as somebody, as a program of theirs would, with a token that ends tomorrow. */
export async function callAs(username: string, origin: string, scopes: string): Promise<Caller> {
  const asked = ["--user", username, "--scopes", scopes, "--expires", "1", "--name", "Samples"];
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
