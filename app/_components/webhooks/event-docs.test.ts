import { readFileSync } from "node:fs";
import { testKinds } from "@keyhook/sdk";
import { expect, test } from "vitest";
import { eventDocsHref } from "./event-docs.ts";

test("the event catalog lists each kind once, with a link to its sample", () => {
  const catalog = readFileSync("docs/guides/events.md", "utf8");
  const rows = [...catalog.matchAll(/^\| \[`([^`]+)`\]\((#[^)]+)\)/gm)].map(([, kind, anchor]) => [
    kind,
    `/docs/events${anchor}`,
  ]);
  // docs-links.test.ts checks that the anchors exist.
  expect(rows.sort()).toEqual(testKinds.map((kind) => [kind, eventDocsHref(kind)]).sort());
});
