import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { type TestKind, testFiles } from "./scripts/test/test-files.ts";

const files = testFiles();

/** Names of folders may have brackets in them. */
const project = (name: TestKind, options: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: files[name].map((file) => file.replace(/[[\](){}*?!]/g, "\\$&")), ...options },
});

export default defineConfig({
  test: {
    // Tests wait a good deal, for git, for Postgres and for moments to come: on two cores, two workers leave one of them idle.
    maxWorkers: availableParallelism() + 1,
    // Machines that run tests are often busy with other things too.
    testTimeout: 30_000,
    slowTestThreshold: 5_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    // As for the stories: a landing must not hang on one slow second of a shared machine. It goes once three runs in a row needed none.
    retry: process.env.CI ? 1 : 0,
    projects: [
      project("pure", { pool: "threads", isolate: false, setupFiles: "core/testing/setup.ts" }),
      project("database", {
        pool: "forks",
        isolate: false,
        globalSetup: "core/testing/global-setup.ts",
        setupFiles: ["core/testing/setup.ts", "core/testing/setup-database.ts"],
      }),
      project("process", {
        pool: "forks",
        fileParallelism: false,
        globalSetup: ["core/testing/global-setup.ts", "core/testing/start-service.ts"],
        setupFiles: "core/testing/setup.ts",
      }),
    ],
  },
});
