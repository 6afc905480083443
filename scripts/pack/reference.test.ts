import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { PLACEHOLDER_ORIGIN } from "#core/docs/fill-in.ts";
import { renderGuide } from "#core/docs/render-guide.ts";
import { readReference } from "../../app/docs/sdk/reference/read-reference.ts";
import { ROOT } from "./pack-packages.ts";

const FOLDER = join(ROOT, "build/sdk-reference");
const BASE = `${PLACEHOLDER_ORIGIN}/docs/sdk/reference`;
const filling = { origin: PLACEHOLDER_ORIGIN, brand: "Keyhook", vendor: "keyhook", tokenPrefix: "kh_" };
const read = (path: string) => readFileSync(join(FOLDER, path), "utf8");
let pages: string[] = [];

beforeAll(() => {
  const setup = ["scripts/setup.mjs", "--packages", "--quiet"];
  const { status, stderr } = spawnSync(process.execPath, setup, { cwd: ROOT, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  pages = globSync("**/*.md", { cwd: FOLDER });
}, 240_000);

describe("the SDK's reference", () => {
  it("links its pages to each other, without file names in URLs", () => {
    expect(pages.length).toBeGreaterThan(150);
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((http:\/\/localhost:3000\/docs\/[^)#]*)/g)].flatMap(([, link = ""]) => {
        if (link === BASE || link === `${PLACEHOLDER_ORIGIN}/docs/sdk`) return [];
        return existsSync(join(FOLDER, `${link.slice(BASE.length)}.md`)) ? [] : [`${page}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("has the form of a guide: a title, and no leftover TSDoc tags", () => {
    for (const page of pages) {
      const { title } = renderGuide(read(page), page, filling);
      expect([page, title]).toEqual([page, expect.stringMatching(/^[A-Za-z]/)]);
      expect(read(page), page).not.toMatch(/__namedParameters|@(group|throws|param|returns|see|useDeclaredType)\b/);
    }
  });

  it.each([
    ...["createClient", "paged", "reconnecting"],
    ...["createLogin", "finishLogin", "deviceLogin", "discover", "fetchUserInfo", "verifyIdToken", "readIdTokenClaims"],
    ...["keepTokens", "refreshTokens", "revokeToken", "exchangeToken", "exchangeCiToken"],
    ...["verifyWebhook", "verifyWebhookSignature", "parseWebhookPayload", "signWebhook", "forwardTo", "listenToRelay"],
  ])("documents the parameters and the result of %s", (name) => {
    const page = read(`functions/${name}.md`);
    expect(page).toMatch(/^## Parameters$/m);
    expect(page).toMatch(/^## Returns$/m);
    const [parameters = ""] = page.split(/^## Parameters$/m)[1]?.split(/^## /m) ?? [];
    expect(parameters.split("\n").filter((line) => line.startsWith("| `") && /\| - \|$/.test(line))).toEqual([]);
  });

  it("writes a type with its brackets as code, and has no links to repository files, which are not pages", () => {
    expect(read("functions/finishLogin.md")).toMatch(/^`Promise<`\[`SignedIn`\]\(\S+\)`>`$/m);
    for (const page of pages) expect(read(page), page).not.toMatch(/\(docs\/|`\\<(`|\[`)[^`]*`\\>/);
  });

  it("names the errors and the RFC of each sign-in function", () => {
    for (const name of ["createLogin", "finishLogin", "deviceLogin", "refreshTokens", "revokeToken", "exchangeToken"]) {
      expect(read(`functions/${name}.md`), name).toMatch(/^## Throws$[\s\S]*SignInError[\s\S]*^## See$[\s\S]*rfc-editor\.org/m);
    }
  });

  it("can be read by name, and no name leads out of its folder", async () => {
    expect(await readReference("index")).toMatchObject({ markdown: expect.stringContaining("# SDK reference") });
    expect(await readReference("functions", "createLogin")).toBeDefined();
    for (const names of [
      ["..", "packages"],
      ["../packages/keyhook-sdk"],
      ["functions", "../index"],
      ["functions", "none"],
      [""],
    ]) {
      expect(await readReference(...names), names.join()).toBeUndefined();
    }
  });
});
