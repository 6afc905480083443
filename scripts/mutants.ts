import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { testServerUrl } from "#core/env.ts";
import { startEmbedded } from "#core/postgres/embedded.ts";
import { runTool } from "./test/run-tool.ts";

/**
 * `npm run mutants`: Stryker changes the code in one place at a time and runs the tests of the same folder; a change that no test
 * notices is a survivor. docs/testing.md explains how to run it, and what its scores are.
 */
const FOLDERS = ["core/crypto", "core/outbound", "core/access", "core/webhooks/manage", "core/oauth"];

/** Tests and what serves them, pages and mails (their words are no rules), and the access table, which only prints rules.ts. */
const LEFT_OUT = [
  "**/*.test.ts",
  "**/testing/**",
  "**/{testing,test-fixtures}.ts",
  "core/oauth/pages/**",
  "**/mails/**",
  "core/access/access-table.ts",
];

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
    // The tests call the service through its doors, so which of them belong to a file is measured and not read from their imports.
    vitest: { dir: isFolder ? target : dirname(target), related: false, pool: "forks" },
    testFiles: values.tests ?? [],
    coverageAnalysis: "perTest",
    mutate: isFolder ? [`${target}/**/*.ts`, ...LEFT_OUT.map((glob) => `!${glob}`)] : [target],
    // Most texts are words for people.
    mutator: { excludedMutations: values.texts ? [] : ["StringLiteral"] },
    // What is computed while a module loads belongs to no test, and with Vitest 4.1 the runner switches such a mutant on too late: all survive.
    ignoreStatic: true,
    concurrency: Number(values.concurrency),
    // A mutant that is merely slow on a busy machine must not count as killed.
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 30,
    // TypeScript 7 has no API with which Stryker could read tsconfig.json, and nothing in a sandbox checks types.
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

// One server for all runners and all mutants: each starting its own would take longer than most tests.
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
