import { expect, type Locator, type Page } from "@playwright/test";

export type SiteKind = "server side" | "in the browser" | "by document";

const names: Record<SiteKind, string> = {
  "server side": "Paper Lantern",
  "in the browser": "Copper Kite",
  "by document": "Slate Heron",
};

type AccessRequest = {
  scopes?: string[];
  organization?: string;
  showPage?: "when needed" | "always, to give consent again" | "always, to sign in again" | "never";
};

export class SampleSite {
  readonly page: Page;
  readonly url: string;
  readonly name: string;
  readonly signInButton: Locator;
  readonly callApiButton: Locator;
  readonly signOutButton: Locator;

  constructor(page: Page, { kind, url }: { kind: SiteKind; url: string }) {
    this.page = page;
    this.url = url;
    this.name = names[kind];
    // A link if the server signs in, a button if a script does.
    this.signInButton = page.getByRole(kind === "in the browser" ? "button" : "link", { name: /^Sign in with/ });
    this.callApiButton = page.getByRole("button", { name: "Call the API" });
    this.signOutButton = page.getByRole("button", { name: "Sign out" });
  }

  async open(): Promise<void> {
    await this.page.goto(this.url);
  }

  async requestAccess({ scopes, organization, showPage }: AccessRequest): Promise<void> {
    const details = this.page.locator("details");
    if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
    if (scopes) {
      for (const box of await this.page.locator("main form").getByRole("checkbox").all()) {
        await box.setChecked(scopes.includes((await box.getAttribute("value")) ?? ""));
      }
    }
    if (organization !== undefined) await this.page.getByLabel("Organization ID").fill(organization);
    if (showPage) await this.page.getByLabel("Show a page").selectOption(showPage);
    await this.page.getByRole("button", { name: "Request", exact: true }).click();
  }

  async expectSignedIn(name: string): Promise<void> {
    await expect(this.page.getByRole("heading", { level: 1, name: `Hello, ${name}` })).toBeVisible();
    // In the URL, the code would reach the history and other sites' logs.
    await expect(this.page).toHaveURL(`${this.url}/`);
  }

  async expectSignedOut(): Promise<void> {
    await expect(this.signInButton).toBeVisible();
    await expect(this.signOutButton).toBeHidden();
    await expect(this.callApiButton).toBeHidden();
  }

  async expectScopes(scopes: string[]): Promise<void> {
    const granted = this.page.getByRole("region", { name: "Access" }).getByRole("listitem");
    const expectGranted = async () => expect((await granted.allTextContents()).sort()).toEqual([...scopes].sort());
    await expect(expectGranted).toPass({ timeout: 15_000 });
  }

  async expectProfile(label: "Organizations" | "E-mail address", text: string | RegExp): Promise<void> {
    const profile = this.page.getByRole("region", { name: "Profile" });
    await expect(profile.getByRole("definition").nth(label === "E-mail address" ? 0 : 1)).toHaveText(text);
  }

  async renew(): Promise<void> {
    const until = this.page.getByRole("region", { name: "Access" }).getByText(/^Until/);
    const before = await until.textContent();
    // The page shows whole seconds, so the new time differs only after one second.
    await this.page.waitForTimeout(1_000);
    // Only the page has to show the result soon. The refresh may take longer on a busy machine.
    const renewed = this.page.waitForResponse((response) => response.request().method() === "POST");
    await this.page.getByRole("button", { name: "Renew access" }).click();
    await renewed;
    await expect(until).not.toHaveText(before ?? "");
  }

  async expectMessage(title: string | RegExp): Promise<void> {
    await expect(this.page.getByRole("heading", { name: title })).toBeVisible();
  }

  async signOut(): Promise<void> {
    await this.signOutButton.click();
  }
}
