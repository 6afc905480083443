import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { screens } from "./support/screens.ts";

test.describe("accessible in both themes, on a telephone and on a desk", () => {
  test.describe.configure({ mode: "parallel" });
  for (const { name, open } of screens) {
    test(name, async ({ page, demo, newcomer }) => {
      await open({ page, demo, newcomer });
      await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
      await expect(page).toHaveTitle(/\S/);
      await expectAccessible(page);
    });
  }
});
