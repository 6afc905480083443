import { expect, type Locator, type Page } from "@playwright/test";

/** Settings, E-mail and sessions, and the password under Security. */
export class AccountSettings {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(): Promise<void> {
    await this.page.goto("/settings/account");
  }

  section(name: string): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  get sessions(): Locator {
    return this.section("Sessions").getByRole("listitem");
  }

  async endOtherSessions(): Promise<void> {
    await this.page.getByRole("button", { name: "End all others" }).click();
    await expect(this.page.getByRole("status")).toContainText("All other sessions are ended");
  }

  async changePassword(present: string, next: string): Promise<void> {
    if (!this.page.url().endsWith("/settings/security")) await this.page.goto("/settings/security");
    await this.page.getByLabel("Present password").fill(present);
    await this.page.getByLabel("New password").fill(next);
    await this.page.getByRole("button", { name: "Change password" }).click();
  }

  async changeEmail(address: string): Promise<void> {
    await this.page.getByLabel("New e-mail").fill(address);
    await this.page.getByRole("button", { name: "Change e-mail" }).click();
  }

  async deleteAccount(username: string, { typing }: { typing: string }): Promise<void> {
    const confirmation = this.page.getByLabel(/^Type .* to confirm$/);
    // It stays open after a refusal.
    if (!(await confirmation.isVisible())) await this.page.getByText("Delete my account").click();
    await confirmation.fill(typing);
    await this.page.getByRole("button", { name: `Delete ${username}` }).click();
  }
}
