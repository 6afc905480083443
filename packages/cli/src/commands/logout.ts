import { revokeToken } from "@keyhook/sdk";
import type { Command } from "commander";
import { act, type Context } from "../context.ts";
import { credentialsPath, readCredentialsFile } from "../credentials/credentials-file.ts";
import { CLI_CLIENT_ID, notSignedIn, storeCredentials } from "../credentials/stored-token.ts";
import type { Terminal } from "../terminal.ts";

export function addLogoutCommand(program: Command, terminal: Terminal): void {
  program.command("logout").description("end the sign-in at the service, and forget it here").action(act(terminal, logout));
}

async function logout(at: Context): Promise<void> {
  const baseUrl = await at.baseUrl();
  const known = (await readCredentialsFile(credentialsPath(at.terminal)))[baseUrl];
  if (!known) throw notSignedIn(baseUrl);
  // A token that somebody made themselves may be in use elsewhere: it is theirs to revoke.
  const isEnded = known.refreshToken === undefined || (await end(baseUrl, known.refreshToken, at.signal));
  await storeCredentials(at.terminal, baseUrl, undefined);
  if (!isEnded) {
    at.print.always(`The service could not be told. End the sign-in there: ${baseUrl}/settings/connected-applications`);
  }
  at.print.done(`Signed out of ${baseUrl}`, { url: baseUrl });
}

async function end(baseUrl: string, token: string, signal: AbortSignal): Promise<boolean> {
  try {
    await revokeToken({ baseUrl, clientId: CLI_CLIENT_ID, token, signal, timeoutMs: 10_000 });
    return true;
  } catch {
    return false;
  }
}
