import { type PresetName, presetNames, presets } from "#core/accounts/publishers/presets.ts";
import { env } from "#core/env.ts";
import { CodeBlock } from "../code-block.tsx";
import { SectionCard } from "../section-card.tsx";
import { Tabs } from "../tabs.tsx";
import { type JobSubject, resourceOf, workflowFiles, workflowOf } from "./workflow.ts";

export type WorkflowCardProps = Readonly<{
  subject: JobSubject;
  /** Whose example is seen first. */
  first?: PresetName;
}>;

/** What to put into the pipeline, filled with the addresses of this service. */
export function WorkflowCard({ subject, first = "github" }: WorkflowCardProps) {
  const { ORIGIN } = env();
  const inTurn = [first, ...presetNames.filter((name) => name !== first)];
  return (
    <SectionCard
      title="In the pipeline"
      description={
        <>
          The job asks its provider for a token with the audience <code className="break-all">{ORIGIN}</code> and exchanges it
          here for the resource <code className="break-all">{resourceOf(subject)}</code>. What it gets works for an hour.
        </>
      }
    >
      <Tabs
        label="Example for"
        tabs={inTurn.map((name) => ({
          label: presets[name].label,
          content: (
            <div className="grid gap-2">
              <p className="text-muted text-small">{workflowFiles[name]}</p>
              <CodeBlock code={workflowOf(name, subject, ORIGIN)} label={`${workflowFiles[name]} for ${presets[name].label}`} />
            </div>
          ),
        }))}
      />
    </SectionCard>
  );
}
