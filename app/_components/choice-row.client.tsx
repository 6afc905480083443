"use client";

import { type ReactNode, useId } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import type { FormState } from "./form-state.ts";

export type ChoiceRowProps = Readonly<{
  /** Checkboxes may share a name and then send several values. */
  type: "checkbox" | "radio";
  name: string;
  value?: string;
  label: ReactNode;
  hint?: ReactNode;
  defaultChecked?: boolean;
  isDisabled?: boolean;
  /** Boxed rows are for a choice among things (organizations, kinds of app), plain ones for a list of statements. */
  isBoxed?: boolean;
}>;

/** A checkbox or radio button with a sentence; the whole row is its label. */
export function ChoiceRow(props: ChoiceRowProps) {
  const { type, name, value = "on", label, hint, defaultChecked = false, isDisabled, isBoxed } = props;
  const id = useId();
  const isChecked = isKept(useFormState(), name, value) ?? defaultChecked;
  return (
    <label
      className={classNames(
        "flex items-start gap-3 has-disabled:text-muted",
        isBoxed ? "rounded-control border border-line px-3 py-2.5 has-checked:border-ink" : "py-2",
      )}
    >
      <input
        // As in Select: React's reset after an action must not bring back the first answer.
        key={String(isChecked)}
        type={type}
        name={name}
        value={value}
        defaultChecked={isChecked}
        disabled={isDisabled}
        // Named by its sentence alone; the hint inside the label would otherwise be read as part of the name.
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        className="mt-1 size-4 shrink-0"
      />
      <span className="min-w-0 flex-1">
        <span id={`${id}-label`} className="block">
          {label}
        </span>
        {hint && (
          <span id={`${id}-hint`} className="block text-muted text-small">
            {hint}
          </span>
        )}
      </span>
    </label>
  );
}

/** Whether the form's state ticks this box; undefined while the form was not sent and does not know the name. */
function isKept({ values, isSubmitted }: FormState, name: string, value: string): boolean | undefined {
  const kept = values[name];
  if (kept === undefined) return isSubmitted ? false : undefined;
  return typeof kept === "string" ? kept === value : kept.includes(value);
}
