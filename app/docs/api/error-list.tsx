import type { ApiDocument } from "#core/api-document.ts";
import { resolveResponse } from "#core/docs/reference/api-reference.ts";
import { Chip } from "../../_components/chip.tsx";
import { CodeBlock } from "../../_components/code-block.tsx";
import { InlineCode } from "./inline-code.tsx";

/** The errors that operations share, each once, by status. */
export function ErrorList({ document }: Readonly<{ document: ApiDocument }>) {
  const refs = new Map(
    Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ responses }) => Object.entries(responses))
      .filter(([, { $ref }]) => $ref),
  );
  const all = [...refs].sort(([one], [other]) => Number(one) - Number(other));
  const [, notFound] = all.find(([status]) => status === "404") ?? [];
  const example = notFound && resolveResponse(document, notFound).content?.["application/json"]?.example;
  return (
    <div className="grid grid-cols-1 gap-4">
      <CodeBlock label="body of an error" code={JSON.stringify(example, null, 2)} />
      <ul className="divide-y divide-line">
        {all.map(([status, response]) => (
          <li key={status} id={`error-${status}`} className="flex scroll-mt-4 items-baseline gap-3 py-2 target:bg-sunken">
            <Chip tone="bad">{status}</Chip>
            <span className="min-w-0 flex-1">
              <InlineCode text={resolveResponse(document, response).description ?? ""} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
