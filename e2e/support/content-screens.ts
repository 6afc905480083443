import { expect, type Page } from "@playwright/test";
import { enterAgain } from "./enter.ts";
import { correctedFiles, Repository, sampleFiles } from "./sample-repository.ts";
import type { Screen, Visit } from "./screen.ts";

export const contentScreens: Screen[] = [
  ofSample("repo-files", "tree/main"),
  ofSample("repo-file", "blob/main/src/tides.py"),
  ofSample("repo-file-text", "blob/main/README.md"),
  ofSample("repo-file-picture", "blob/main/pixel.png"),
  ofSample("repo-file-new", "new/main/src"),
  ofSample("repo-file-edit", "edit/main/src/tides.py", editorOpens),
  ofSample("repo-file-preview", "edit/main/README.md", async (page) => {
    await editorOpens(page);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("region", { name: "Preview" }).waitFor();
  }),
  ofSample("repo-file-not-to-edit", "edit/main/pixel.png"),
  ofSample("repo-file-upload", "upload/main"),
  ofSample("repo-file-delete", "delete/main/harbours.csv"),
  ofSample("repo-commits", "commits/main"),
  ofSample("repo-commit", "commit/main"),
  ofSample("repo-branches", "branches"),
  ofSample("repo-tags", "tags"),
  ofSample("repo-compare", "compare/feature%2Ffirst...main"),
  {
    name: "repo-empty",
    async open(visit) {
      const repository = await Repository.make(visit.demo, visit.newcomer);
      await show(visit, `${repository.path}/tree/main`);
    },
  },
];

function editorOpens(page: Page): Promise<void> {
  return page.locator(".cm-content").waitFor();
}

let sample: Promise<Repository> | undefined;

function ofSample(name: string, rest: string, then?: (page: Page) => Promise<void>): Screen {
  return {
    name,
    async open(visit) {
      sample ??= makeSample(visit);
      await show(visit, `${(await sample).path}/${rest}`);
      await then?.(visit.page);
    },
  };
}

async function show({ page, newcomer }: Visit, path: string): Promise<void> {
  await enterAgain(page, newcomer);
  const answer = await page.goto(path);
  expect(answer?.status(), `status of ${path}`).toBe(200);
}

async function makeSample({ demo, newcomer }: Visit): Promise<Repository> {
  const repository = await Repository.make(demo, newcomer, { type: "dataset" });
  await repository.commit(sampleFiles, "Add the first tables");
  await repository.branch("feature/first");
  await repository.commit(correctedFiles, "Correct the harbours");
  await repository.tag("v1.0", "The first edition");
  return repository;
}
