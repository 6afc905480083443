import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { auth, extractWWWAuthenticateParams } from "@modelcontextprotocol/sdk/client/auth.js";
import { Agent, CALLBACK } from "../api/testing/mcp-agent.ts";
import { startMcpServer } from "../api/testing/mcp-server.ts";
import { expect, test } from "./fixtures.ts";
import { expectAccessible } from "./support/accessibility.ts";
import { admin } from "./support/admin.ts";

test("an agent that knows only another service's URL gets access to it", async ({
  page,
  demo,
  person,
  signInPage,
  modal,
  serveDocument,
}) => {
  const service = await startMcpServer(demo.origin);
  const name = `Tools ${randomBytes(3).toString("hex")}`;
  const { client_id, client_secret } = await admin(demo, "resource", "add", "--url", service.resource, "--name", name);
  service.useCredentials(`Basic ${Buffer.from(`${client_id}:${client_secret}`).toString("base64")}`);
  const document = await serveDocument({
    client_name: "Quill",
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
  });
  const agent = new Agent({ clientMetadataUrl: document.clientId });
  // The agent listens at a loopback address (RFC 8252 §7.3).
  const waiting = createServer((_req, res) => res.end("You can close this tab.")).listen(
    Number(new URL(CALLBACK).port),
    "127.0.0.1",
  );
  await once(waiting, "listening");

  try {
    const options = { serverUrl: service.resource, ...extractWWWAuthenticateParams(await service.call()) };
    expect(await auth(agent, options)).toBe("REDIRECT");
    await page.goto(String(agent.sentTo));
    await signInPage.signIn(person);

    await modal.expectShownFor("Quill");
    const where = page.getByRole("region", { name: "It can act on your behalf at" });
    await expect(where).toContainText(name);
    await expect(where).toContainText(service.resource);
    await expect(page.getByText("stays signed in for up to a year")).toBeVisible();
    await expectAccessible(page);
    await modal.authorize();

    await page.waitForURL(`${CALLBACK}?*`);
    const authorizationCode = new URL(page.url()).searchParams.get("code") ?? "";
    expect(await auth(agent, { ...options, authorizationCode })).toBe("AUTHORIZED");
    expect((await service.call(agent.tokens()?.access_token)).status).toBe(200);

    await page.goto("/settings/connected-applications");
    await expect(page.getByRole("listitem").filter({ hasText: "Quill" }).first()).toContainText(`On your behalf at${name}`);
  } finally {
    waiting.close();
    await service.stop();
  }
});
