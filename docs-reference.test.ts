import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type ApiDocument, apiDocument } from "#core/api-document.ts";
import { EVENTS_SLUG, eventsSection, sectionsOf } from "#core/docs/reference/api-reference.ts";
import { OperationSection } from "./app/docs/api/operation-section.tsx";

await import("./api/app.ts");
const document = apiDocument() as ApiDocument;

const ELEMENTS_MAX = 1_700;

test("no operation in the API reference has more than 1,700 elements, so that no page has more than 2,000", () => {
  const sizes = [...sectionsOf(document), eventsSection(document)].flatMap((section) =>
    section.operations.map((entry) => {
      const html = renderToStaticMarkup(
        createElement(OperationSection, { document, entry, isEvent: section.slug === EVENTS_SLUG }),
      );
      return { id: entry.id, elements: html.match(/<[a-z]/g)?.length ?? 0 };
    }),
  );
  expect(sizes.length).toBeGreaterThan(100);
  expect(sizes.filter(({ elements }) => elements > ELEMENTS_MAX || elements < 10)).toEqual([]);
});
