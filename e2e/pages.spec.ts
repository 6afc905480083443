import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { expectAccessible, expectAccessibleOnDesktop } from "./support/accessibility.ts";
import { screens } from "./support/screens.ts";

const withMoreOnDesktop = ["start", "start-member", "docs-webhooks", "repo-files", "webhook"];

/** All screens share one page, because each screen sets its own URL and cookies. */
let kept: Page | undefined;

test.describe("accessible in both themes, on a phone and on a desktop", () => {
  test.describe.configure({ mode: "parallel" });
  for (const { name, open } of screens) {
    test(name, async ({ keptContext, demo, newcomer }) => {
      const context = await keptContext(true);
      if (!kept || kept.isClosed()) kept = await context.newPage();
      const page = kept;
      await open({ page, demo, newcomer });
      await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
      await expect(page).toHaveTitle(/\S/);
      await expectAccessible(page);
      if (withMoreOnDesktop.includes(name)) await expectAccessibleOnDesktop(page);
      await context.clearCookies();
    });
  }
});

test("the permissions modal is answered by keyboard alone", async ({ page, member, sampleSite, signInPage, modal }) => {
  const [north] = member.organizations;
  const site = sampleSite("server side");
  await site.open();
  await site.signInButton.click();
  await signInPage.signIn(member);
  await modal.expectShownFor(site.name);

  const email = modal.scope("email");
  const organization = modal.organization(north.fullName);
  const stops = [page.getByRole("link", { name: "Switch account" }), email, modal.scope("read-repos"), organization];
  for (const stop of [...stops, modal.cancelButton, modal.authorizeButton]) {
    await tabTo(page, stop);
    await expectFocusToShow(stop);
    if (stop === email || stop === organization) await page.keyboard.press("Space");
  }
  await page.keyboard.press("Enter");
  await site.expectScopes(["openid", "profile", "read-repos"]);
  await site.expectProfile("Organizations", `${north.fullName} admin`);
});

async function tabTo(page: Page, goal: Locator): Promise<void> {
  for (let presses = 0; presses < 15; presses++) {
    await page.keyboard.press("Tab");
    if (await goal.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`Tab does not reach ${goal}.`);
}

async function expectFocusToShow(focused: Locator): Promise<void> {
  const width = await focused.evaluate((element) => Number.parseFloat(getComputedStyle(element).outlineWidth));
  expect(width, `outline of ${focused} in focus`).toBeGreaterThanOrEqual(2);
}
