import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { testServerUrl } from "#core/env.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { runTool } from "./test/profile.ts";

/**
 * `npm run mutants`: Stryker changes the code in one place at a time and runs the tests of the same folder; a change that no test
 * notices is a survivor. docs/testing.md explains how to run it.
 */
const FOLDERS = ["core/crypto", "core/outbound", "core/access", "core/webhooks/manage", "core/oauth"];

/** The texts of pages and emails are not rules, and the access table only prints rules.ts. */
const LEFT_OUT = ["**/*.test.ts", "**/testing/**", "core/oauth/pages/**", "**/emails/**", "core/access/access-table.ts"];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: "string", multiple: true },
    texts: { type: "boolean", default: false },
    force: { type: "boolean", default: false },
    concurrency: { type: "string", default: String(Math.max(1, availableParallelism() - 1)) },
  },
});

function configurationFor(target: string): object {
  const isFolder = statSync(target).isDirectory();
  const report = join("reports/mutants", target.replaceAll("/", "-"));
  return {
    testRunner: "vitest",
    // Stryker measures which tests reach a file. Imports do not show it, because tests send requests to the service.
    vitest: { dir: isFolder ? target : dirname(target), related: false, pool: "forks" },
    testFiles: values.tests ?? [],
    coverageAnalysis: "perTest",
    mutate: isFolder ? [`${target}/**/*.ts`, ...LEFT_OUT.map((glob) => `!${glob}`)] : [target],
    // Most string literals are messages for users.
    mutator: { excludedMutations: values.texts ? [] : ["StringLiteral"] },
    // Code that runs while a module loads belongs to no test. With Vitest 4.1, the runner activates such mutants too late.
    ignoreStatic: true,
    concurrency: Number(values.concurrency),
    // A mutant that is only slow on a busy machine must not count as killed.
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 30,
    // TypeScript 7 has no API with which Stryker could read tsconfig.json.
    tsconfigFile: "none",
    ignorePatterns: ["/biome.json", "/build", "/data*", "/shots", "/test-results", "/playwright-report", ".next*", ".env"],
    incremental: true,
    incrementalFile: `${report}.incremental.json`,
    force: values.force,
    reporters: ["progress-append-only", "clear-text", "html", "json"],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    htmlReporter: { fileName: `${report}.html` },
    jsonReporter: { fileName: `${report}.json` },
  };
}

// Starting a database server for each runner would take longer than most tests.
const dataDir = mkdtempSync(join(tmpdir(), "keyhook-mutants-"));
const server = testServerUrl() ? undefined : await startEmbedded(dataDir, { isDurable: false });
try {
  const configuration = join(dataDir, "stryker.json");
  for (const target of positionals.length > 0 ? positionals : FOLDERS) {
    console.log(`\n— ${target}`);
    writeFileSync(configuration, JSON.stringify(configurationFor(target.replace(/\/$/, ""))));
    process.exitCode = await runTool("stryker", ["run", configuration], {
      TEST_DATABASE_URL: testServerUrl() ?? (server?.superuserUrl as string),
    });
    if (process.exitCode !== 0) break;
  }
} finally {
  await server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
