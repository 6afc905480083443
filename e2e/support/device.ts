import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Demo } from "./demo.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** The service, and an app for devices there. */
export type DeviceService = Pick<Demo, "origin" | "deviceClientId">;

/** The scopes that the sample device asks for. */
export const DEVICE_SCOPES = "openid profile email read-repos";

/** examples/device-cli as it runs in somebody's terminal. */
export class DeviceCli {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown>;
  printed = "";

  constructor({ origin, deviceClientId }: DeviceService) {
    this.#child = spawn(process.execPath, ["sign-in.ts"], {
      cwd: resolve(ROOT, "examples/device-cli"),
      env: { ...process.env, ISSUER: origin, CLIENT_ID: deviceClientId },
    });
    for (const output of [this.#child.stdout, this.#child.stderr]) {
      output.on("data", (text) => {
        this.printed += text;
      });
    }
    this.#exited = once(this.#child, "exit");
  }

  /** What it tells its user. */
  async instructions(): Promise<{ userCode: string; verificationUri: string; completeUri: string }> {
    for (;;) {
      const userCode = /^ +([A-Z]{4}-[A-Z]{4})$/m.exec(this.printed)?.[1];
      const verificationUri = /^ +(http\S+)$/m.exec(this.printed)?.[1];
      const completeUri = /^or open (\S+)/m.exec(this.printed)?.[1];
      if (userCode && verificationUri && completeUri) return { userCode, verificationUri, completeUri };
      const more = await Promise.race([once(this.#child.stdout, "data"), this.#exited.then(() => undefined)]);
      if (!more) throw new Error(`No code was shown: ${this.printed}`);
    }
  }

  async exitCode(): Promise<number | null> {
    await this.#exited;
    return this.#child.exitCode;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill();
    await this.#exited;
  }
}

export type DeviceAnswer = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
};

/** A device asks for its code, in plain requests. */
export async function askForCode(
  service: DeviceService,
  { scope = DEVICE_SCOPES, headers = {} }: { scope?: string; headers?: Record<string, string> } = {},
): Promise<DeviceAnswer> {
  const body = new URLSearchParams({ client_id: service.deviceClientId, scope });
  const answer = await fetch(`${service.origin}/oauth/device`, { method: "POST", body, headers });
  if (!answer.ok) throw new Error(`No device code: ${await answer.text()}`);
  return answer.json();
}

/** A device asks whether it was let in. */
export async function poll(
  { origin, deviceClientId }: DeviceService,
  deviceCode: string,
): Promise<{ status: number; error?: string; scope?: string; access_token?: string }> {
  const body = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: deviceCode,
    client_id: deviceClientId,
  });
  const answer = await fetch(`${origin}/oauth/token`, { method: "POST", body });
  return { status: answer.status, ...(await answer.json()) };
}
