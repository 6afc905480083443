import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { repoApiPath, repoPath } from "@keyhook/sdk";
import { callAs, callToMakeWebhooks } from "./call-as.ts";
import type { Notes } from "./notes.ts";

/** A Space that receives webhooks, from examples/webhook-space. */
export const sampleSpace = { owner: "mara", name: "post-box", watched: [{ type: "user", name: "mara" }] } as const;

const FULL_NAME = `${sampleSpace.owner}/${sampleSpace.name}`;

/** Makes it, with a webhook that posts to it and the secret that both know; before the other repositories, so that it hears of them. */
export async function seedSpace({ made, save }: Notes, origin: string): Promise<void> {
  made.repos ??= {};
  made.webhooks ??= {};
  made.spaceSecret ??= `whsec_${randomBytes(32).toString("base64")}`;
  const secret = made.spaceSecret;
  save();
  const once = async (known: Record<string, true>, key: string, make: () => Promise<unknown>) => {
    if (known[key]) return;
    await make();
    known[key] = true;
    save();
  };
  await once(made.repos, `space ${FULL_NAME}`, async () => {
    const call = await callAs(sampleSpace.owner, origin, "read-repos write-repos manage-repos");
    const path = repoApiPath("space", FULL_NAME);
    await call("POST", "/api/repos/create", { type: "space", name: sampleSpace.name, sdk: "node" });
    await call("POST", `${path}/secrets`, { key: "WEBHOOK_SECRET", value: secret });
    const files = { "README.md": read("SPACE.md"), "app.js": read("app.js"), "package.json": '{ "type": "module" }\n' };
    const lines = [
      { key: "header", value: { summary: "Receive webhooks" } },
      ...Object.entries(files).map(([file, content]) => ({ key: "file", value: { path: file, content, encoding: "utf-8" } })),
    ];
    await call("POST", `${path}/commit/main`, lines.map((line) => JSON.stringify(line)).join("\n"), "application/x-ndjson");
    await call("PUT", `${path}/settings`, { description: "Shows what a webhook told it last." });
  });
  // By address as well: on another port it is another service.
  const url = `${origin}${repoPath("space", FULL_NAME)}/app/`;
  await once(made.webhooks, `space ${url}`, async () => {
    const call = await callToMakeWebhooks(sampleSpace.owner, origin);
    await call("POST", "/api/settings/webhooks", { url, watched: sampleSpace.watched, domains: ["repo", "discussion"], secret });
  });
}

const read = (file: string): string => readFileSync(new URL(`../../examples/webhook-space/${file}`, import.meta.url), "utf8");
