import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { type ApiDocument, apiDocument } from "#core/api-document.ts";
import { eventOperations, sectionsOf, splitResponses } from "#core/docs/reference/api-reference.ts";
import { curlOf, exampleOf } from "#core/docs/reference/example-of.ts";

await import("./app.ts");
const document = apiDocument() as ApiDocument;
const entries = sectionsOf(document).flatMap(({ operations }) => operations);

test("every operation has a page, which similar operations share", () => {
  const shown = entries.flatMap(({ id, alike }) => [id, ...alike.map((one) => one.id)]);
  const all = Object.values(document.paths).flatMap((one) => Object.values(one).map(({ operationId }) => operationId));
  expect(shown.sort()).toEqual(all.sort());
  expect(entries.find(({ id }) => id === "createModelBranch")?.alike.map(({ id }) => id)).toEqual([
    "createDatasetBranch",
    "createSpaceBranch",
  ]);
  expect(entries.find(({ id }) => id === "listWebhooks")?.alike).toMatchObject([{ id: "listOrganizationWebhooks" }]);
  expect(sectionsOf(document).every(({ operations }) => operations.length > 0)).toBe(true);
});

test("each example matches its schema", () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "https://x.example/", ...(JSON.parse(JSON.stringify(document)) as object) });
  const bodies = [...entries, ...eventOperations(document)].flatMap(({ id, operation }) => {
    const answers = splitResponses(operation).own.flatMap(([, { content }]) => Object.values(content ?? {}));
    const requests = Object.values(operation.requestBody?.content ?? {});
    return [
      ...answers.map((one) => ({ id, ...one, isRequest: false })),
      ...requests.map((one) => ({ id, ...one, isRequest: true })),
    ];
  });
  const wrong = bodies.flatMap(({ id, schema = {}, isRequest }) => {
    const whole = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://x.example/#/')) as object;
    const example = exampleOf(document, schema, { isRequest });
    return ajv.validate(whole, example) ? [] : [`${id}: ${ajv.errorsText()} ${JSON.stringify(example).slice(0, 200)}`];
  });
  expect(bodies.length).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
});

test("a request to copy has the service's URL, the whole path, and the token from the environment", () => {
  for (const entry of entries) expect(curlOf(document, entry).split(" \\\n")[0]).not.toMatch(/[{}]/);
  const create = entries.find(({ id }) => id === "createWebhook");
  expect(create && curlOf(document, create)).toBe(
    [
      "curl -X POST 'http://localhost:3000/api/settings/webhooks'",
      '-H "Authorization: Bearer $KEYHOOK_TOKEN"',
      `-H "Content-Type: application/json"`,
      `-d '{"url":"https://app.example.com/webhooks/tides","watched":[{"type":"dataset","name":"ada/tide-tables"}],"secret":"correct-horse-battery-staple"}'`,
    ].join(" \\\n  "),
  );
  const read = entries.find(({ id }) => id === "getModel");
  expect(read && curlOf(document, read)).toBe("curl 'http://localhost:3000/api/models/ada/tide-tables'");
});
