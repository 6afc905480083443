import type { GuideHeading } from "#core/docs/render-guide.ts";
import { classNames } from "../_components/class-names.ts";

export type OnThisPageProps = Readonly<{ headings: readonly GuideHeading[] }>;

/** The sections of a guide: beside it where there is room, folded away above it where there is none. */
export function OnThisPage({ headings }: OnThisPageProps) {
  return (
    <>
      <details className="rounded-control border border-line bg-surface xl:hidden">
        <summary className="px-3 py-2 text-small">On this page</summary>
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
