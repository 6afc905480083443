import { env } from "#core/env.ts";
import { flavors } from "#core/jobs/flavors.ts";
import { ChoiceRow, Choices, Field, Select, TextArea } from "../fields.client.tsx";
import { SectionCard } from "../page-layout.tsx";

export function JobFields() {
  const sizes = flavors().map(({ name, cpus, memoryBytes }) => ({
    value: name,
    label: `${name}: ${cpus} CPU${cpus === 1 ? "" : "s"}, ${Math.round((memoryBytes / 1024 ** 3) * 10) / 10} GB`,
  }));
  return (
    <>
      <SectionCard title="Command">
        <div className="group grid max-w-reading gap-5">
          <Choices
            legend="Where it runs"
            name="source"
            options={[
              { value: "image", label: "In a Docker image" },
              {
                value: "space",
                label: "In a directory with a Space's files",
                hint: "The command starts in a directory with the files of the Space's default branch.",
              },
            ]}
          />
          {/* CSS shows one of the two fields. Without CSS both are visible. */}
          <div className="group-has-[input[value=space]:checked]:hidden">
            <Field name="image" label="Image" hint="A Docker image name, such as debian or python:3.12." isMono />
          </div>
          <div className="group-has-[input[value=image]:checked]:hidden">
            <Field name="space" label="Space" hint="owner/name" isMono />
          </div>
          <TextArea
            name="command"
            label="Command"
            hint={
              <>
                As you would type it in a terminal: <code>python train.py --epochs 3</code>. A shell runs it if it has pipes,
                variables or several lines.
              </>
            }
            isMono
            rows={3}
            spellCheck={false}
          />
          <TextArea
            name="arguments"
            label="Arguments"
            hint="One per line. They are added to the command unchanged."
            isMono
            rows={2}
            spellCheck={false}
            isOptional
          />
        </div>
      </SectionCard>
      <SectionCard title="Environment and resources">
        <div className="grid max-w-reading gap-5">
          <TextArea
            name="environment"
            label="Environment variables"
            hint="NAME=value, one per line."
            isMono
            rows={3}
            spellCheck={false}
            isOptional
          />
          <TextArea
            name="secrets"
            label="Secrets"
            hint="NAME=value, one per line. They are stored encrypted, never shown again, and masked in the log."
            isMono
            rows={2}
            spellCheck={false}
            isOptional
          />
          <Select name="flavor" label="Size" options={sizes} />
          <Field name="minutes" label="Time limit" hint="In minutes, at most 1,440." type="number" min={1} max={1440} />
          {env().JOBS_NETWORK === "1" && (
            <ChoiceRow
              type="checkbox"
              name="network"
              label="Allow network access"
              hint="When off, the job has no network access."
            />
          )}
        </div>
      </SectionCard>
    </>
  );
}
