import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { expect, type Locator, type Page } from "@playwright/test";
import type { Demo } from "./demo.ts";
import { PermissionsModal, underMouse } from "./permissions-modal.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export type DeviceService = Pick<Demo, "origin" | "deviceClientId">;

export const DEVICE_SCOPES = "openid profile email read-repos";

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

export async function askForCode(
  service: DeviceService,
  { scope = DEVICE_SCOPES, headers = {} }: { scope?: string; headers?: Record<string, string> } = {},
): Promise<DeviceAnswer> {
  const body = new URLSearchParams({ client_id: service.deviceClientId, scope });
  const answer = await fetch(`${service.origin}/oauth/device`, { method: "POST", body, headers });
  if (!answer.ok) throw new Error(`No device code: ${await answer.text()}`);
  return answer.json();
}

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

export class DevicePages {
  readonly page: Page;
  readonly modal: PermissionsModal;
  readonly code: Locator;
  readonly continueButton: Locator;
  readonly notMeButton: Locator;
  readonly switchAccount: Locator;

  constructor(page: Page) {
    this.page = page;
    this.modal = new PermissionsModal(page);
    this.code = page.getByLabel("Code", { exact: true });
    this.continueButton = page.getByRole("button", { name: "Continue" });
    this.notMeButton = page.getByRole("button", { name: "This is not me" });
    this.switchAccount = page.getByRole("button", { name: "Switch account" });
  }

  async enter(userCode: string): Promise<void> {
    await this.page.goto("/device");
    await this.code.fill(userCode);
    await this.continueButton.click();
  }

  async enterAndConfirm(userCode: string): Promise<void> {
    await this.enter(userCode);
    await this.confirm(userCode);
  }

  async confirm(userCode: string): Promise<void> {
    await this.expectAsked(userCode);
    await (await underMouse(this.continueButton)).click();
    await expect(this.modal.authorizeButton).toBeVisible();
  }

  async expectAsked(userCode: string): Promise<void> {
    await this.expectTitle("Is this the code on your device?");
    await expect(this.page.getByText(userCode)).toBeVisible();
  }

  async expectTitle(title: string | RegExp): Promise<void> {
    await expect(this.page.getByRole("heading", { level: 1 })).toHaveText(title);
  }
}
