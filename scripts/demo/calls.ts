import { childEnvironment } from "#core/env.ts";
import { AdminProcess } from "../admin/admin-process.ts";

export class AdminError extends Error {
  override name = "AdminError";
  readonly code: string;

  constructor(command: string, { error, code }: { error: string; code: string }) {
    super(`${command}: ${error}`);
    this.code = code;
  }
}

let running: AdminProcess | undefined;

export async function runAdmin<T>(...args: string[]): Promise<T> {
  running ??= new AdminProcess(childEnvironment());
  const { json, failure } = await running.run(args);
  if (failure) throw new AdminError(`admin ${args.slice(0, 2).join(" ")}`, failure);
  return json as T;
}

export function endAdmin(): void {
  running?.close();
}

export type Caller = {
  <T>(method: string, path: string, body: unknown, contentType?: string): Promise<T>;
  token: string;
};

export function callAs(username: string, origin: string, { name, scopes }: { name: string; scopes: string }): Promise<Caller> {
  return callWith(["--user", username, "--scopes", scopes, "--expires", "1", "--name", name], origin);
}

/** A webhook stops when the token that created it expires, so this token does not expire. */
export function callForWebhooks(username: string, origin: string): Promise<Caller> {
  return callWith(["--user", username, "--scopes", "webhooks read-repos", "--name", "Webhook setup"], origin);
}

async function callWith(options: string[], origin: string): Promise<Caller> {
  const { token } = await runAdmin<{ token: string }>("token", "create", ...options);
  const call = async (method: string, path: string, body: unknown, contentType = "application/json") => {
    const answer = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": contentType },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return JSON.parse(text || "{}");
  };
  return Object.assign(call, { token });
}
