import { expect, type Locator, type Page } from "@playwright/test";

/** Moves the mouse to a button. The button stays covered until the mouse has been on the card for a moment (S25). */
export async function underMouse(button: Locator): Promise<Locator> {
  await button.hover({ force: true });
  return button;
}

/** Presses a button three times immediately after the mouse has arrived, as a double click on another site may do. */
export async function pressOnArrival(page: Page, button: Locator): Promise<void> {
  await button.scrollIntoViewIfNeeded();
  const box = await button.boundingBox();
  const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
  await page.mouse.move(0, 0);
  await page.mouse.click(x, y);
  await page.mouse.dblclick(x, y);
}

export class PermissionsModal {
  readonly page: Page;
  readonly authorizeButton: Locator;
  readonly cancelButton: Locator;

  constructor(page: Page) {
    this.page = page;
    this.authorizeButton = page.getByRole("button", { name: "Authorize" });
    this.cancelButton = page.getByRole("button", { name: "Cancel" });
  }

  async expectShownFor(app: string): Promise<void> {
    await expect(this.page.getByRole("heading", { level: 1, name: new RegExp(app) })).toBeVisible();
  }

  scope(scope: string): Locator {
    return this.page.locator(`input[type=checkbox][name=scope][value="${scope}"]`);
  }

  organization(name: string): Locator {
    return this.page.getByRole("checkbox", { name: new RegExp(name) });
  }

  async expectAccount({ username }: { username: string }): Promise<void> {
    await expect(this.page.getByText(username).first()).toBeVisible();
  }

  async switchAccount(): Promise<void> {
    await this.page.getByRole("link", { name: "Switch account" }).click();
  }

  async authorize(): Promise<void> {
    await (await underMouse(this.authorizeButton)).click();
  }

  async cancel(): Promise<void> {
    await this.cancelButton.click();
  }
}
