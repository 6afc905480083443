import { DiffLines } from "../../diff-view.tsx";
import { diffTexts } from "./diff-texts.ts";
import type { ShownAttempt } from "./pretty-json.ts";

type ResponseChangesProps = Readonly<{ attempt: ShownAttempt; previous: ShownAttempt | undefined }>;

/** Compares only the responses, because the requests' bodies are always the same (S124). */
export function ResponseChanges({ attempt, previous }: ResponseChangesProps) {
  const [before, after] = [previous && textOf(previous), textOf(attempt)];
  if (!previous?.isShown || !attempt.isShown || before === undefined || after === undefined) return null;
  if (before === after) return <p className="text-fine text-muted">Same response as in attempt {previous.number}.</p>;
  const hunks = diffTexts(before, after);
  return (
    <details>
      <summary className="link w-fit text-muted text-small">Changes since attempt {previous.number}</summary>
      <div className="mt-2 rounded-control contain-inline-size border border-line bg-sunken">
        {hunks ? (
          <DiffLines label={`Response of attempt ${attempt.number}, compared with attempt ${previous.number}`} hunks={hunks} />
        ) : (
          <p className="p-3 text-muted text-small">The responses are too long or too different to compare line by line.</p>
        )}
      </div>
    </details>
  );
}

/** Omits `Date`, because that header always differs. */
function textOf({ status, response, json }: ShownAttempt): string | undefined {
  if (!response || response.body.text === null) return undefined;
  const headers = Object.entries(response.headers).filter(([name]) => name.toLowerCase() !== "date");
  const { text } = response.body;
  return [`status: ${status}`, ...headers.map(([name, value]) => `${name}: ${value}`), "", json ?? text].join("\n");
}
