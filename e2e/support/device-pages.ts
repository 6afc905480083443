import { expect, type Locator, type Page } from "@playwright/test";
import { PermissionsModal } from "./permissions-modal.ts";

/** The pages on which a person lets a device in: the code, whether it is theirs, what it may do, and what came of it. */
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

  /** From the code to the question whether it is the one on the device. */
  async enter(userCode: string): Promise<void> {
    await this.page.goto("/device");
    await this.code.fill(userCode);
    await this.continueButton.click();
  }

  /** From the code to the permissions modal. */
  async enterAndConfirm(userCode: string): Promise<void> {
    await this.enter(userCode);
    await this.confirm(userCode);
  }

  async confirm(userCode: string): Promise<void> {
    await this.expectAsked(userCode);
    await this.continueButton.click();
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
