import { expect, type Locator, type Page } from "@playwright/test";
import type { Demo } from "./demo.ts";
import { enter } from "./enter.ts";

export class Administration {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async enter({ password }: Demo): Promise<void> {
    await enter(this.page, { username: "opal", password });
  }

  async findApp(name: string): Promise<Locator> {
    await this.page.goto("/admin/apps");
    await this.page.getByLabel("Name, client ID or owner").fill(name);
    await this.page.getByRole("button", { name: "Search" }).click();
    await this.page.waitForURL(/search=/);
    return this.page.getByRole("list", { name: "OAuth apps" }).getByRole("listitem");
  }

  async blockApp(name: string): Promise<void> {
    const app = await this.findApp(name);
    await app.getByText("Block", { exact: true }).click();
    await app.getByRole("button", { name: `Block ${name}` }).click();
    await this.expectNotice("App blocked");
  }

  rule(host: string): Locator {
    return this.page.getByRole("list", { name: "Rules" }).getByRole("listitem").filter({ hasText: host });
  }

  async beginBlockingHost(host: string, note = ""): Promise<void> {
    await this.page.goto("/admin/hosts");
    await this.addRule({ host, note, rule: "Block" });
    await expect(this.page.getByRole("heading", { level: 1, name: /^Block .*\?$/ })).toBeVisible();
  }

  async addRule({ host, note, rule }: { host: string; note: string; rule: "Allow" | "Block" }): Promise<void> {
    await this.page.getByLabel("Host", { exact: true }).fill(host);
    await this.page.getByLabel("Note").fill(note);
    await this.page.getByRole("radio", { name: rule, exact: true }).check();
    await this.page.getByRole("button", { name: "Add rule" }).click();
  }

  async confirmBlockingHost(): Promise<void> {
    await this.page.getByRole("button", { name: "Block host" }).click();
    await this.expectNotice("Host blocked");
  }

  async removeRule(host: string): Promise<void> {
    await this.page.goto("/admin/hosts");
    await this.rule(host).getByText("Delete", { exact: true }).click();
    await this.rule(host).getByRole("button", { name: "Delete the rule" }).click();
    await this.expectNotice("Rule deleted");
  }

  async expectNotice(text: string): Promise<void> {
    await expect(this.page.getByRole("status").filter({ hasText: text })).toBeVisible();
  }
}
