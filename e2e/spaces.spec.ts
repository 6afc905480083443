import { readFileSync } from "node:fs";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { enter } from "./support/enter.ts";
import { WorkTree } from "./support/git-repository.ts";
import { hubClient } from "./support/hub.ts";

const APP = readFileSync(new URL("../examples/webhook-space/app.js", import.meta.url), "utf8");
const SECRET = "whsec_dGhlIHdvcmRzIG9mIGEgdGlkZSBnYXVnZSBhdCBuaWdodA==";

test("a Space shows webhooks live, is paused and restarted, and if private, accepts posts only at its receiver URL", async ({
  demo,
  member,
  page,
}) => {
  const hub = await hubClient(demo, member, "read-repos write-repos manage-repos webhooks");
  const { name } = await hub.send<{ name: string }>("POST", "/api/repos/create", {
    name: "post-box",
    type: "space",
    sdk: "node",
    autoInit: false,
  });
  const app = `${demo.origin}/spaces/${name}/app/`;
  await enter(page, member);
  await page.goto(`/spaces/${name}`);
  await expect(page.getByText("No app yet")).toBeVisible();

  // A push starts the Space, so the secret comes first.
  await hub.send("POST", `/api/spaces/${name}/secrets`, { key: "WEBHOOK_SECRET", value: SECRET });
  const tree = new WorkTree(demo, hub.token, `spaces/${name}`);
  await tree.init();
  await tree.commit("Receive webhooks", {
    "README.md": "---\nsdk: node\n---\n# Post box\n",
    "app.js": APP,
    "package.json": '{"type":"module"}',
  });
  await tree.git("push", "--quiet", "origin", "main");
  await page.reload();
  await expect(page.getByText("Running", { exact: true })).toBeVisible();
  const frame = page.frameLocator("iframe");
  await expect(frame.getByText("Nothing yet.")).toBeVisible();
  await expectAccessible(page);

  const watched = [{ type: "user", name: member.username }];
  await hub.send("POST", "/api/settings/webhooks", { url: app, watched, domains: ["repo"], secret: SECRET });
  await hub.send("POST", "/api/repos/create", { name: "tides", type: "dataset", autoInit: false });
  await expect(frame.getByText(`${member.username}/tides`, { exact: true })).toBeVisible();
  // The app is another author's page on our host name. Its origin is opaque, so it cannot read the visitor's data.
  const inside = page.frames().find((each) => each.url() === app);
  expect(await inside?.evaluate(() => self.origin)).toBe("null");
  expect(
    await inside?.evaluate(() =>
      fetch("/settings", { credentials: "include" }).then(
        () => "read",
        () => "refused",
      ),
    ),
  ).toBe("refused");
  expect(
    await inside?.evaluate(() => {
      try {
        return document.cookie;
      } catch {
        return "refused";
      }
    }),
  ).toBe("refused");
  await page.getByRole("link", { name: "Runtime", exact: true }).click();
  await expect(page.getByRole("region", { name: "Output" })).toContainText(`received repo create of ${member.username}/tides`);

  await page.getByText("Pause", { exact: true }).click();
  await page.getByRole("button", { name: "Pause it" }).click();
  await expect(page.getByText("Paused", { exact: true })).toBeVisible();
  expect((await fetch(app)).status).toBe(503);
  await page.getByRole("button", { name: "Restart" }).click();
  await expect(page.getByText("Running", { exact: true })).toBeVisible();

  await hub.send("PUT", `/api/spaces/${name}/settings`, { private: true });
  expect((await fetch(app)).status).toBe(404);
  await page.goto(`/spaces/${name}`);
  await expect(frame.getByText("Nothing yet.")).toBeVisible();
  await page.getByRole("link", { name: "Runtime", exact: true }).click();
  const receiver = (await page.getByText("/app/~r").textContent()) ?? "";
  expect((await fetch(receiver)).status).toBe(404);
  expect((await fetch(receiver, { method: "POST", body: "{}" })).status).toBe(401);
  await page.getByText("Create new URL", { exact: true }).first().click();
  await page.getByRole("button", { name: "Create new URL" }).click();
  await expect(page.getByText("The previous one no longer works.")).toBeVisible();
  expect((await fetch(receiver, { method: "POST", body: "{}" })).status).toBe(404);
});
