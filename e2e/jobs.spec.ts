import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { enter } from "./support/enter.ts";
import { hubClient } from "./support/hub.ts";

const script = [
  `echo "Hello from $SEASON, $TOKEN"`,
  `printf '\\033[32mgreen\\033[0m\\n'`,
  "for i in $(seq 1 60); do echo tick $i; sleep 0.5; done",
].join("\n");

test("a user runs a job, follows its log, cancels it, runs it again and schedules it", async ({
  page,
  person,
  another,
  demo,
}) => {
  test.slow();
  await enter(page, person);
  await page.goto("/settings/profile");
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await expect(page.getByText("No jobs yet")).toBeVisible();
  await page.getByRole("link", { name: "New job" }).click();

  await expect(page.getByLabel("Space", { exact: true })).toBeHidden();
  await page.getByRole("textbox", { name: "Command", exact: true }).fill("echo 'open");
  await page.getByRole("textbox", { name: "Environment" }).fill("SEASON=autumn");
  await page.getByRole("button", { name: "Run job" }).click();
  await expect(page.getByText("Close the quotation mark.")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Environment" })).toHaveValue("SEASON=autumn");
  await page.getByRole("textbox", { name: "Command", exact: true }).fill(script);
  await page.getByLabel("Secrets").fill("TOKEN=swordfish-in-the-bay");
  await page.getByRole("button", { name: "Run job" }).click();

  const log = page.getByRole("region", { name: "Output" });
  await expect(log).toContainText("Hello from autumn, ***");
  await expect(log).toContainText("tick 3");
  await expect(log).not.toContainText("\u001b");
  await expect(page.locator("main")).not.toContainText("swordfish");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("searchbox", { name: "Search the log" }).fill("green");
  await expect(page.getByText(/^1 of \d+ lines$/)).toBeVisible();
  await expect(log).not.toContainText("tick");
  await page.getByRole("searchbox", { name: "Search the log" }).fill("");
  await page.getByRole("button", { name: "Follow" }).click();
  await expect(log).toContainText("tick 8");
  await expectAccessible(page);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download the whole log" }).click();
  expect((await download).suggestedFilename()).toMatch(/^job-[0-9a-f]{24}\.log$/);

  const url = page.url();
  await page.getByText("Cancel job").click();
  await page.getByRole("button", { name: "Cancel this job" }).click();
  await expect(page.getByText("Cancelled", { exact: true }).first()).toBeVisible({ timeout: 30_000 });

  const runId = url.split("/").at(-1) ?? "";
  await page.goto(`/jobs/${person.username}/${runId}`);
  await expect(page).toHaveURL(new RegExp(`/settings/jobs/${runId}`));
  const stranger = await page.context().browser()?.newContext({ baseURL: demo.origin });
  if (stranger) {
    const theirs = await stranger.newPage();
    await enter(theirs, another);
    expect((await theirs.request.get(`/jobs/${person.username}/${runId}`)).status()).toBe(404);
    expect((await theirs.request.get(`/settings/jobs/${runId}/log`)).status()).toBe(404);
    await stranger.close();
  }

  await page.getByRole("link", { name: "Edit and run" }).click();
  await expect(page.getByRole("textbox", { name: "Command", exact: true })).toHaveValue(script);
  await expect(page.getByText("If the new one needs them, enter them again under Secrets: TOKEN.")).toBeVisible();
  await page.getByRole("textbox", { name: "Command", exact: true }).fill("sh -c 'echo ready; exit 3'");
  await page.getByRole("button", { name: "Run job" }).click();
  await expect(page.getByText("The command ended with exit code 3.").first()).toBeVisible({ timeout: 30_000 });

  await page.getByRole("link", { name: "Schedule", exact: true }).click();
  await page.getByLabel("Runs", { exact: true }).selectOption("custom");
  await page.getByLabel("Cron expression").fill("0 0 30 2 *");
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByText("This schedule never runs")).toBeVisible();
  await page.getByLabel("Cron expression").fill("0 9 * * 1-5");
  await page.getByLabel("Time zone").fill("Europe/Zurich");
  await page.getByRole("button", { name: "Create schedule" }).click();
  await expect(page.getByText("0 9 * * 1-5 Europe/Zurich")).toBeVisible();
  await page.getByRole("button", { name: "Suspend" }).click();
  await expect(page.getByText("Suspended", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("The command ended with exit code 3.").first()).toBeVisible({ timeout: 30_000 });
  await page.getByRole("link", { name: "a schedule" }).click();
  await page.getByText("Delete", { exact: true }).click();
  await page.getByRole("button", { name: "Delete this schedule" }).click();
  await expect(page.getByText("No schedules yet")).toBeVisible();

  await page.getByRole("link", { name: "Jobs", exact: true }).last().click();
  await page.getByLabel("Show").selectOption("cancelled");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page.getByRole("list", { name: "Jobs" }).getByRole("listitem")).toHaveCount(1);
  const hub = await hubClient(demo, person, "jobs");
  expect(await hub.send<unknown[]>("GET", `/api/jobs/${person.username}?stage=ERROR`)).toHaveLength(2);
});
