import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importFault, importFaults } from "./import-rules.ts";

/** Without these examples, a rule that matches nothing would look the same as a repository without mistakes. */
const forbidden = [
  ["core/accounts/a.ts", "next/headers"],
  ["core/accounts/a.ts", "react"],
  ["core/oauth/a.ts", "next-auth"],
  ["core/images/a.ts", "hono"],
  ["core/oauth/a.ts", "../../app/_server/session.ts"],
  ["core/oauth/consents/a.ts", "../../../api/app.ts"],
  ["core/mail/a.ts", "../../worker/loop.ts"],
  ["core/accounts/a.ts", "oidc-provider"],
  ["core/oauth/a.ts", "oidc-provider/lib/models/index.js"],
  ["core/a.ts", "./oauth/provider.ts"],
  ["core/crypto/a.ts", "#core/accounts/throttle.ts"],
  ["core/audit/a.ts", "../accounts/throttle.ts"],
  ["core/outbound/a.ts", "../db.ts"],
  ["core/outbound/a.ts", "../accounts/throttle.ts"],
  ["core/outbound/a.ts", "#core/oauth/provider.ts"],
  ["core/outbound/a.ts", "next/headers"],
  ["core/outbound/a.ts", "oidc-provider"],
  ["core/outbound/a.ts", "pg"],
  ["core/outbound/a.ts", "../../worker/loop.ts"],
  ["core/crypto/a.ts", "../outbound/send-request.ts"],
  ["core/access/a.ts", "../accounts/throttle.ts"],
  ["core/access/a.ts", "../oauth/provider.ts"],
  ["core/accounts/users/a.ts", "#core/oauth/provider.ts"],
  ["core/accounts/users/a.ts", "../../oauth/provider.ts"],
  ["core/oauth/a.ts", "#core/instance/run-service.ts"],
  ["core/oauth/a.ts", "../hub/repos/repo.ts"],
  ["core/accounts/users/a.ts", "../../hub/repos/repo.ts"],
  ["core/access/a.ts", "../events/record-event.ts"],
  ["core/events/a.ts", "../hub/repos/repo.ts"],
  ["core/webhooks/a.ts", "../events/record-event.ts"],
  ["core/relay/a.ts", "../jobs/runners/runner.ts"],
  ["core/hub/repos/a.ts", "#core/oauth/tokens/find-bearer.ts"],
  ["core/hub/git/a.ts", "hono"],
  ["core/inference/requests/a.ts", "../../oauth/find-bearer.ts"],
  ["core/inference/requests/a.ts", "hono"],
  ["app/login/a.tsx", "../../api/app.ts"],
  ["app/login/a.tsx", "../../worker/loop.ts"],
  ["app/login/a.tsx", "oidc-provider"],
  ["app/login/a.tsx", "#core/generated/prisma/client.ts"],
  ["app/login/a.client.tsx", "#core/env.ts"],
  ["app/login/a.client.tsx", "../_server/session.ts"],
  ["app/login/a.client.tsx", "node:fs"],
  ["api/a.ts", "next"],
  ["api/routes/a.ts", "react"],
  ["api/routes/a.ts", "../../app/_server/session.ts"],
  ["api/routes/a.ts", "pg"],
  ["pages/api/oidc/a.ts", "../../../app/_server/session.ts"],
  ["pages/api/oidc/a.ts", "../../../worker/loop.ts"],
  ["worker/a.ts", "next"],
  ["worker/a.ts", "../api/app.ts"],
  ["worker/a.ts", "../app/_server/session.ts"],
  ["server/a.ts", "../app/_server/session.ts"],
  ["server.ts", "./worker/loop.ts"],
  ["e2e/a.spec.ts", "#core/env.ts"],
  ["e2e/support/a.ts", "../../core/env.ts"],
  ["examples/site/a.ts", "../../core/env.ts"],
  ["packages/sdk/src/a.ts", "#core/env.ts"],
  ["packages/sdk/src/a.ts", "node:fs"],
  ["packages/cli/src/a.ts", "../../../core/env.ts"],
] as const;

const allowed = [
  ["core/oauth/a.ts", "oidc-provider"],
  ["server/pooler.test.ts", "#core/backup/create-backup.ts"],
  ["core/oauth/a.ts", "../accounts/throttle.ts"],
  ["core/oauth/consents/a.ts", "../pages/error-page.ts"],
  ["core/oauth/provider-internals.ts", "oidc-provider/lib/models/index.js"],
  ["core/accounts/a.ts", "#core/audit/record-audit-event.ts"],
  ["core/instance/a.ts", "../accounts/setup-link.ts"],
  ["core/inference/requests/a.ts", "../../outbound/stream-request.ts"],
  ["core/outbound/a.ts", "../env.ts"],
  ["core/outbound/a.ts", "../log.ts"],
  ["core/outbound/a.ts", "./request.ts"],
  ["core/outbound/a.ts", "node:dns/promises"],
  ["core/outbound/a.ts", "undici"],
  ["core/outbound/a.ts", "ipaddr.js"],
  ["core/oauth/a.ts", "../outbound/send-request.ts"],
  ["core/hub/repos/a.ts", "../../events/record-event.ts"],
  ["core/hub/git/a.ts", "../../webhooks/count-watching.ts"],
  ["core/events/a.ts", "../access/may.ts"],
  ["app/login/a.tsx", "#core/accounts/throttle.ts"],
  ["app/login/a.client.tsx", "./actions.ts"],
  ["app/login/a.client.tsx", "react"],
  ["api/a.ts", "hono"],
  ["api/app.ts", "./bearer.ts"],
  ["pages/api/oidc/a.ts", "#core/oauth/handler.ts"],
  ["worker/a.ts", "#core/mail/deliver-mail.ts"],
  ["server.ts", "next"],
  ["server/a.ts", "../api/app.ts"],
  ["packages/cli/src/a.ts", "@keyhook/sdk"],
  ["scripts/a.ts", "#core/env.ts"],
] as const;

const root = join(import.meta.dirname, "../..");
const tree = mkdtempSync(join(tmpdir(), "keyhook-import-rules-"));
const sources = {
  "core/accounts/settings.ts": "export const x = process.env.X;",
  "core/env.ts": "export const x = process.env.X;",
  "core/one.ts": 'export * from "./two.ts";',
  "core/two.ts": 'export * from "./one.ts";',
};
let found: string[];

beforeAll(() => {
  cpSync(join(root, "biome.json"), join(tree, "biome.json"));
  for (const [file, source] of Object.entries(sources)) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), `${source}\n`);
  }
  const args = ["lint", "--vcs-enabled=false", "--reporter=json", "--max-diagnostics=none", "."];
  const { stdout } = spawnSync(join(root, "node_modules/.bin/biome"), args, { cwd: tree, encoding: "utf8" });
  type Report = { diagnostics: { category: string; location: { path: string } }[] };
  found = (JSON.parse(stdout) as Report).diagnostics.map(
    ({ category, location: { path } }) => `${category.split("/").at(-1)} ${path}`,
  );
});
afterAll(() => rmSync(tree, { recursive: true }));

describe("the import rules", () => {
  test.each(forbidden)("%s may not import %s", (file, path) => {
    expect(importFault(file, path)).toBeDefined();
  });

  test.each(allowed)("%s may import %s", (file, path) => {
    expect(importFault(file, path)).toBeUndefined();
  });

  test("no file has an import that the rules forbid", () => {
    expect(importFaults(root)).toEqual([]);
  });

  test("only core/env.ts reads process.env", () => {
    expect(found).toContain("noProcessEnv core/accounts/settings.ts");
    expect(found).not.toContain("noProcessEnv core/env.ts");
  });

  test("imports have no cycles", () => {
    expect(found).toContain("noImportCycles core/one.ts");
  });
});
