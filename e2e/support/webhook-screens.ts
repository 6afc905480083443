import { enterAgain } from "./enter.ts";
import { underMouse } from "./permissions-modal.ts";
import { account, go, type Screen, type Visit } from "./screen.ts";

export const webhookScreens: Screen[] = [
  {
    name: "webhook-new-refused",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/webhooks/new");
      await page.getByRole("radio", { name: "Selected events" }).check();
      await (await underMouse(page.getByRole("button", { name: "Create webhook" }))).click();
      await page.getByText("Enter the").first().waitFor();
    },
  },
  { name: "webhook", open: async (visit) => openDelivery(visit, "mara", "/settings/webhooks") },
  {
    name: "webhook-saved-view",
    async open({ page, demo }) {
      await enterAgain(page, { username: "aiko", password: demo.password });
      await go(page, "/organizations/tidepool/settings/webhooks");
      await page.getByRole("list", { name: "Webhooks" }).getByRole("link").first().click();
      await page.getByLabel("Status").selectOption("Failed");
      await page.getByText("Save view…").or(page.getByText("Delete view")).waitFor();
      if (await page.getByText("Delete view").isVisible()) return;
      await page.getByText("Save view…").click();
      await page.getByRole("textbox", { name: "Name" }).fill("Failed");
      await page.getByRole("button", { name: "Save view" }).click();
      await page.getByText("Delete view").waitFor();
    },
  },
  {
    name: "webhook-save-view",
    async open({ page, demo }) {
      await enterAgain(page, { username: "mara", password: demo.password });
      await go(page, "/settings/webhooks");
      await page.getByRole("list", { name: "Webhooks" }).getByRole("link").first().click();
      await page.getByRole("combobox", { name: "Event", exact: true }).last().selectOption("repo.content.update");
      await page.getByText("Save view…").click();
    },
  },
  {
    name: "webhook-send-test",
    async open(visit) {
      await openWebhook(visit, "mara", "/settings/webhooks");
      await visit.page.getByText("Send a test", { exact: true }).click();
    },
  },
  {
    name: "webhook-failing",
    open: async (visit) => openDelivery(visit, "aiko", "/organizations/tidepool/settings/webhooks"),
  },
  {
    name: "webhook-edit",
    async open(visit) {
      await openWebhook(visit, "mara", "/settings/webhooks");
      await visit.page.getByRole("link", { name: "Edit", exact: true }).click();
      await visit.page.getByRole("heading", { level: 1, name: "Webhook settings" }).waitFor();
    },
  },
];

async function openWebhook(visit: Visit, who: string, list: string): Promise<void> {
  const { page } = visit;
  await enterAgain(page, account(visit, who));
  await go(page, list);
  await page.getByRole("list", { name: "Webhooks" }).getByRole("link").first().click();
  await page.getByRole("list", { name: "Deliveries" }).waitFor();
}

async function openDelivery(visit: Visit, who: string, list: string): Promise<void> {
  const { page } = visit;
  await openWebhook(visit, who, list);
  await page.getByRole("list", { name: "Deliveries" }).getByRole("link").first().click();
  await page.getByRole("complementary", { name: /^[a-z]+(\.[a-z]+)+$/ }).waitFor();
}
