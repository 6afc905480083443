import { expect, test } from "vitest";
import { type RequestContext, requestContext } from "../log.ts";
import type { Filling } from "./fill-in.ts";
import { readGuide, renderCachedGuide } from "./read-guide.ts";

const filling = { origin: "https://hub.test", brand: "Hub", vendor: "hub", tokenPrefix: "hub_" };
const app = { clientId: "my-client", scope: "openid" };

test("S137 a guide is rendered once for everybody, unless it contains the reader's app", async () => {
  const guide = await readGuide("webhooks");
  if (!guide) throw new Error("there is no guide");
  const workFor = (reader: Filling) => {
    const context: RequestContext = { requestId: "r" };
    requestContext.run(context, () => renderCachedGuide(guide, reader));
    return context.workMs ?? 0;
  };
  expect(workFor(filling)).toBeGreaterThan(0);
  expect(workFor(filling)).toBe(0);
  for (let again = 0; again < 2; again++) expect(workFor({ ...filling, app })).toBeGreaterThan(0);
});

test("each cell of a table names its column, and a long name in a cell may be broken across lines", async () => {
  const markdown = "# T\n\n| Action | Owner |\n| --- | --- |\n| `repo.manage_publishers` | yes |\n";
  const { tree } = renderCachedGuide({ path: "t.md", markdown }, filling);
  const page = JSON.stringify(tree);
  expect(page).toContain('"dataColumn":"Owner"');
  expect(page.match(/"wbr"/g)).toHaveLength(2);
});
