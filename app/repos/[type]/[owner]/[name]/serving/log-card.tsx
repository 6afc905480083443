import { ScrollText } from "lucide-react";
import type { Repo } from "#core/hub/repos/repo.ts";
import { readSpaceLog } from "#core/spaces/logs/read-space-log.ts";
import { EmptyState } from "../../../../../_components/empty-state.tsx";
import { SectionCard } from "../../../../../_components/section-card.tsx";

const SHOWN_MAX_CHARACTERS = 64 * 1024;
// The last line is what is looked for: reversed, the box opens at its end and stays there.
const BOX = "flex max-h-96 flex-col-reverse overflow-auto rounded-b-card bg-sunken";

/** What it has printed last, for those who may write to it. */
export async function LogCard({ repo }: Readonly<{ repo: Repo }>) {
  const all = (await readSpaceLog(repo.id)).map(({ text }) => text).join("");
  const text = all.length > SHOWN_MAX_CHARACTERS ? all.slice(all.indexOf("\n", all.length - SHOWN_MAX_CHARACTERS) + 1) : all;
  return (
    <SectionCard title="Log" description="What it has printed last. Values of its secrets are masked." isFlush>
      {text === "" ? (
        <EmptyState Icon={ScrollText} title="Nothing printed yet">
          What the app writes to its standard output and error is shown here.
        </EmptyState>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard (WCAG 2.1.1)
        <section aria-label="What it printed" tabIndex={0} className={BOX}>
          <pre className="min-w-0 whitespace-pre-wrap break-words p-4 text-fine leading-5">{text}</pre>
        </section>
      )}
    </SectionCard>
  );
}
