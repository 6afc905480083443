import { BookOpen } from "lucide-react";
import type { Readme } from "#core/hub/git/read/find-readme.ts";
import type { MarkdownPlace } from "#core/hub/markdown/place.ts";
import { Markdown } from "../../../../../_components/markdown.tsx";

/** What explains a folder, below what is in it. */
export function ReadmeCard({ readme, place }: Readonly<{ readme: Readme; place: MarkdownPlace }>) {
  return (
    <section aria-label={readme.name} className="rounded-card border border-line bg-surface">
      <header className="flex items-center gap-2 border-line border-b px-4 py-2.5 text-small">
        <BookOpen className="size-4 text-muted" aria-hidden="true" />
        <bdi className="font-medium">{readme.name}</bdi>
      </header>
      <div className="px-4 py-5 sm:px-6">
        {readme.isMarkdown ? (
          <Markdown text={readme.text} place={place} />
        ) : (
          <pre className="overflow-x-auto whitespace-pre-wrap break-words contain-inline-size">{readme.text}</pre>
        )}
      </div>
    </section>
  );
}
