import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { keepTemporaryFilesInMemory } from "./scripts/test/memory-folder.ts";
import { type TestKind, testFiles } from "./scripts/test/test-files.ts";

keepTemporaryFilesInMemory();
// Vitest loads this file again for each project.
const run = globalThis as { keyhookTestFiles?: ReturnType<typeof testFiles> };
run.keyhookTestFiles ??= testFiles();
const files = run.keyhookTestFiles;

const project = (name: TestKind, options: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, include: files[name].map((file) => file.replace(/[[\](){}*?!]/g, "\\$&")), ...options },
});

export default defineConfig({
  test: {
    // Tests spend half of their time waiting. With more workers, some tests come close to their time limit.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    slowTestThreshold: 5_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    experimental: { fsModuleCache: true },
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
