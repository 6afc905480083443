import { expect, type Locator, type Page } from "@playwright/test";

export class ConnectedApps {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(): Promise<void> {
    await this.page.goto("/settings/connected-applications");
  }

  app(name: string): Locator {
    return this.page.getByRole("listitem").filter({ hasText: name });
  }

  async revoke(name: string): Promise<void> {
    await this.app(name).getByText("Revoke", { exact: false }).first().click();
    await this.page
      .getByRole("button", { name: /^Revoke/ })
      .last()
      .click();
    await expect(this.app(name)).toHaveCount(0);
  }
}
