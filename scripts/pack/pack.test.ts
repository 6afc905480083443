import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./pack-packages.ts";

const NAMES = ["sdk", "cli", "receiver"] as const;
const tarball = (name: string) => join(ROOT, `build/packages/keyhook-${name}.tgz`);
const folder = mkdtempSync(join(tmpdir(), "keyhook-pack-"));

const environment = {
  PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`,
  HOME: folder,
  NO_COLOR: "1",
  NO_UPDATE_NOTIFIER: "1",
};

function run(program: string, args: string[], cwd = folder) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    env: environment as unknown as NodeJS.ProcessEnv,
  });
  return { status, said: `${error?.message ?? ""}${stdout}${stderr}` };
}

function succeed(program: string, ...args: string[]): string {
  const { status, said } = run(program, args);
  expect(status, said).toBe(0);
  return said;
}

const nodes = [...new Set([process.execPath, "/usr/bin/node", "/usr/local/bin/node"])].filter((path) => existsSync(path));

function install(): void {
  for (const name of NAMES) {
    const target = join(folder, "node_modules/@keyhook", name);
    mkdirSync(target, { recursive: true });
    succeed("tar", "-xzf", tarball(name), "-C", target, "--strip-components=1");
  }
  const wanted = new Set(NAMES.flatMap((name) => Object.keys(manifestOf(name).dependencies ?? {})));
  for (const name of wanted) {
    const path = join(folder, "node_modules", name);
    if (existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    const own = ["packages/sdk/node_modules", "packages/cli/node_modules", "node_modules"]
      .map((each) => join(ROOT, each, name))
      .find((each) => existsSync(each));
    symlinkSync(own as string, path);
  }
}

type Published = {
  dependencies?: Record<string, string>;
  bundleDependencies?: string[];
  bin?: Record<string, string>;
  exports?: Record<string, unknown>;
};
const manifestOf = (name: string): Published =>
  JSON.parse(readFileSync(join(folder, "node_modules/@keyhook", name, "package.json"), "utf8"));

beforeAll(() => {
  succeed(process.execPath, join(ROOT, "scripts/setup.mjs"), "--packages", "--quiet");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  install();
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(NAMES)("the tarball of the %s", (name) => {
  it("contains only the compiled code, its declarations, a README and the license", () => {
    const paths = succeed("tar", "-tzf", tarball(name)).trim().split("\n");
    const wanted = /^package\/(node_modules\/@keyhook\/sdk\/)?(dist\/|package\.json$|README\.md$|LICENSE$)/;
    expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.test\.|\/testing\/|tsconfig|(?<!\.d)\.ts$|\.env|\.map$/.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(["package/LICENSE", "package/README.md", "package/package.json"]));
  });

  it("has a consistent package.json", () => {
    succeed("publint", join(folder, "node_modules/@keyhook", name), "--strict");
    if (name !== "cli") succeed("attw", tarball(name), "--profile", "esm-only", "--no-emoji");
    const { dependencies = {}, bundleDependencies } = manifestOf(name);
    expect(bundleDependencies).toEqual(name === "sdk" ? undefined : ["@keyhook/sdk"]);
    expect(dependencies.zod).toBe(manifestOf("sdk").dependencies?.zod);
    // npm would treat dependencies of the bundled SDK as bundled too, and leave an empty folder for each.
    if (bundleDependencies) {
      const carried = join(folder, "node_modules/@keyhook", name, "node_modules/@keyhook/sdk/package.json");
      expect(JSON.parse(readFileSync(carried, "utf8"))).not.toHaveProperty("dependencies");
    }
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d/);
  }, 60_000);
});

it("the packages run on each installed Node", () => {
  writeFileSync(
    join(folder, "use.js"),
    `import { createClient, ApiError } from "@keyhook/sdk";
     import * as receiver from "@keyhook/receiver";
     const client = createClient({ baseUrl: "http://127.0.0.1:9", token: "kh_x", maxRetries: 0 });
     const error = await client.whoami().catch((error) => error);
     console.log(typeof ApiError, error instanceof Error, typeof receiver);`,
  );
  for (const node of nodes) {
    expect(succeed(node, "use.js")).toBe("function true object\n");
    const cli = join("node_modules/@keyhook/cli", manifestOf("cli").bin?.keyhook as string);
    expect(succeed(node, cli, "--version")).toMatch(/^\S*\d+\.\d+\.\d+/);
  }
});

it("the packages have types that compile with the module resolution of bundlers and of Node", {
  timeout: 60_000,
}, () => {
  writeFileSync(
    join(folder, "use.ts"),
    `import { createClient, type WhoAmI } from "@keyhook/sdk";
     import * as receiver from "@keyhook/receiver";
     const client = createClient({ baseUrl: "https://hub.example.com" });
     export const who: Promise<WhoAmI> = client.whoami();
     // @ts-expect-error the client has no such method
     client.nothing();
     export default receiver;`,
  );
  const types = `${join(ROOT, "node_modules/@types")}`;
  for (const [module, resolution, skipLibCheck] of [
    ["nodenext", "nodenext", false],
    ["esnext", "bundler", true],
  ]) {
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noUncheckedIndexedAccess: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck,
          noEmit: true,
          target: "es2022",
          lib: ["es2023", "dom", "dom.iterable"],
          module,
          moduleResolution: resolution,
          typeRoots: [types],
          types: ["node"],
        },
        files: ["use.ts"],
      }),
    );
    succeed("tsc", "--project", "tsconfig.json");
  }
});
