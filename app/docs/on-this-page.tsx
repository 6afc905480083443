import { ChevronDown } from "lucide-react";
import type { GuideHeading } from "#core/docs/render-guide.ts";
import { classNames } from "../_components/class-names.ts";

type OnThisPageProps = Readonly<{ headings: readonly GuideHeading[] }>;

export function OnThisPage({ headings }: OnThisPageProps) {
  return (
    <>
      <details className="group rounded-control border border-line bg-surface xl:hidden">
        <summary className="flex items-center justify-between gap-2 px-3 py-2 text-small">
          On this page
          <ChevronDown className="size-4 shrink-0 text-muted group-open:rotate-180" aria-hidden="true" />
        </summary>
        <nav aria-label="On this page" className="border-line border-t p-2">
          <Sections headings={headings} />
        </nav>
      </details>
      <nav aria-label="On this page" className="sticky top-4 hidden max-h-(--height-panel) overflow-y-auto xl:block">
        <p className="px-3 pb-1 text-fine text-muted">On this page</p>
        <Sections headings={headings} />
      </nav>
    </>
  );
}

function Sections({ headings }: OnThisPageProps) {
  return (
    <ul className="text-small">
      {headings.map(({ id, text, level }) => (
        <li key={id}>
          <a
            href={`#${id}`}
            className={classNames("block break-words py-1 pr-3 text-muted hover:text-ink", level === 3 ? "pl-6" : "pl-3")}
          >
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}
