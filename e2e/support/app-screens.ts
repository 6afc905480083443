import { generateKeyPairSync } from "node:crypto";
import { expect } from "@playwright/test";
import { admin } from "./admin.ts";
import { enterAgain } from "./enter.ts";
import { account, go, type Screen, type Visit } from "./screen.ts";

export const appScreens: Screen[] = [
  ...(["Overview", "Connect", "Permissions", "Security", "Danger"] as const).map((tab) => ({
    name: `app-${tab.toLowerCase()}`,
    open: async (visit: Visit) => openApp(visit, "/settings/applications", "Paper Lantern", "aiko", tab),
  })),
  {
    name: "organization-app-exchange",
    open: async (visit) => openApp(visit, "/organizations/tidepool/settings/applications", "Night Heron", "aiko", "Permissions"),
  },
  {
    name: "organization-app",
    open: async (visit) => openApp(visit, "/organizations/tidepool/settings/applications", "Copper Kite"),
  },
  {
    name: "app-made",
    async open({ page, newcomer }) {
      await enterAgain(page, newcomer);
      await go(page, "/settings/applications/new");
      await page.getByLabel("Name", { exact: true }).fill("Quiet Harbour");
      await page.getByRole("textbox", { name: "After sign-in" }).fill("https://harbour.example.com/callback");
      await page.getByLabel("Confidential").check();
      await page.getByRole("button", { name: "Create app" }).click();
      await page.getByText("Copy the client secret now").waitFor();
    },
  },
  {
    name: "app-with-device-flow",
    open: async (visit) => openApp(visit, "/settings/applications", "Tin Whistle", "jonas", "Connect"),
  },
  { name: "app-with-keys", open: async (visit) => openAppWithKeys(visit) },
];

async function openApp(visit: Visit, list: string, name: string, who = "aiko", tab = "Overview"): Promise<void> {
  await enterAgain(visit.page, account(visit, who));
  await go(visit.page, list);
  await visit.page.getByRole("link", { name }).click();
  await visit.page.getByRole("heading", { level: 1, name }).waitFor();
  await visit.page.getByRole("navigation", { name: "App", exact: true }).getByRole("link", { name: tab }).click();
  await visit.page.locator(`[aria-current=page]:text-is("${tab}")`).waitFor();
}

async function openAppWithKeys({ page, demo, newcomer }: Visit): Promise<void> {
  const words = "--name Ferry --scopes openid --redirect-uri https://ferry.example/cb --confidential --par --dpop";
  const { id } = await admin<{ id: string }>(demo, "app", "create", "--owner", newcomer.username, ...words.split(" "));
  await enterAgain(page, newcomer);
  await go(page, `/settings/applications/${id}?tab=security`);
  const keys = page.getByRole("textbox", { name: "Public keys" });
  await page.getByText("Use keys", { exact: true }).click();
  await keys.fill(generateKeyPairSync("ed25519").publicKey.export({ format: "pem", type: "spki" }).toString());
  await page.getByRole("button", { name: "Use these keys" }).click();
  await page.getByText("signs with Ed25519").waitFor();
  await page.getByText("Replace keys", { exact: true }).click();
  await keys.fill("not a key");
  await page.getByRole("button", { name: "Replace the keys" }).click();
  await expect(keys).toHaveAccessibleDescription(/neither JSON nor PEM/);
}
