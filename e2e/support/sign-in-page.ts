import { expect, type Page } from "@playwright/test";

export type Person = { username: string; fullName: string; email: string; password: string };

export class SignInPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async expectShown(): Promise<void> {
    await expect(this.page.getByRole("heading", { level: 1, name: /^Sign in to/ })).toBeVisible();
  }

  async signIn({ username, password }: Pick<Person, "username" | "password">): Promise<void> {
    await this.page.getByLabel("Username or e-mail").fill(username);
    await this.page.getByLabel("Password", { exact: true }).fill(password);
    await this.page.getByRole("button", { name: "Sign in", exact: true }).click();
  }
}
