import { env } from "#core/env.ts";
import { flavors } from "#core/jobs/flavors.ts";
import { ChoiceRow } from "../choice-row.client.tsx";
import { Field } from "../field.client.tsx";
import { SectionCard } from "../section-card.tsx";
import { Select } from "../select.client.tsx";
import { TextArea } from "../text-area.client.tsx";

/** What runs, with what, for how long: the fields of a run and of a schedule. */
export function JobFields() {
  const sizes = flavors().map(({ name, cpus, memoryBytes }) => ({
    value: name,
    label: `${name}: ${cpus} CPU${cpus === 1 ? "" : "s"}, ${Math.round((memoryBytes / 1024 ** 3) * 10) / 10} GB`,
  }));
  return (
    <>
      <SectionCard title="What runs">
        <div className="group grid max-w-reading gap-5">
          <fieldset className="grid gap-2">
            <legend className="mb-1 font-medium">Where</legend>
            <ChoiceRow type="radio" name="source" value="image" label="In an image" isBoxed />
            <ChoiceRow
              type="radio"
              name="source"
              value="space"
              label="Among the files of a Space"
              hint="The command starts in a directory with the files of its main branch."
              isBoxed
            />
          </fieldset>
          {/* One of the two, by what is chosen above; without styles both. */}
          <div className="group-has-[input[value=space]:checked]:hidden">
            <Field
              name="image"
              label="Image"
              hint="As for docker run: debian, python:3.12."
              isMono
              autoComplete="off"
              spellCheck={false}
            />
          </div>
          <div className="group-has-[input[value=image]:checked]:hidden">
            <Field name="space" label="Space" hint="owner/name" isMono autoComplete="off" spellCheck={false} />
          </div>
          <TextArea
            name="command"
            label="Command"
            hint={
              <>
                As in a terminal: <code>python train.py --epochs 3</code>. A shell runs it where it has pipes, variables or
                several lines.
              </>
            }
            isMono
            rows={3}
            spellCheck={false}
          />
          <TextArea
            name="arguments"
            label="Arguments"
            hint="One in each line, added to the command just as they stand."
            isMono
            rows={2}
            spellCheck={false}
            isOptional
          />
        </div>
      </SectionCard>
      <SectionCard title="With what">
        <div className="grid max-w-reading gap-5">
          <TextArea
            name="environment"
            label="Environment"
            hint="NAME=value, one in each line."
            isMono
            rows={3}
            spellCheck={false}
            isOptional
          />
          <TextArea
            name="secrets"
            label="Secrets"
            hint="NAME=value, one in each line. They are kept sealed, never shown again, and masked in the log."
            isMono
            rows={2}
            spellCheck={false}
            isOptional
          />
          <Select name="flavor" label="Size" options={sizes} />
          <Field name="minutes" label="Ends after" hint="Minutes; 1,440 at most." type="number" min={1} max={1440} />
          {env().JOBS_NETWORK === "1" && (
            <ChoiceRow
              type="checkbox"
              name="network"
              label="May reach the network"
              hint="Without, it reaches nothing but itself."
            />
          )}
        </div>
      </SectionCard>
    </>
  );
}
