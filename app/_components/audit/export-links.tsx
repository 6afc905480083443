import { Download } from "lucide-react";
import { buttonClass } from "../button.tsx";

export type ExportLinksProps = Readonly<{
  /** What answers with the file. */
  action: string;
  /** The search of the page, in the words of the API. */
  q: string;
}>;

const formats = [
  { format: "json", label: "JSON" },
  { format: "jsonl", label: "JSON lines" },
  { format: "csv", label: "CSV" },
] as const;

/** What is shown, as a file. Plain links: the browser saves what comes. */
export function ExportLinks({ action, q }: ExportLinksProps) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="inline-flex items-center gap-1.5 text-muted text-small">
        <Download className="size-4" aria-hidden="true" />
        Export
      </span>
      {formats.map(({ format, label }) => (
        <a
          key={format}
          href={`${action}?${new URLSearchParams({ format, q })}`}
          download=""
          className={buttonClass({ size: "small" })}
          aria-label={`Export as ${label}`}
        >
          {label}
        </a>
      ))}
    </div>
  );
}
