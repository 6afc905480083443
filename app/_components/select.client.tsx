"use client";

import { ChevronDown } from "lucide-react";
import { type ReactNode, useId } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import { controlClass, describedBy, FieldFrame } from "./field-frame.tsx";

export type SelectProps = Readonly<{
  name: string;
  label: ReactNode;
  options: ReadonlyArray<Readonly<{ value: string; label: string; isDisabled?: boolean }>>;
  defaultValue?: string;
  hint?: ReactNode;
  error?: string;
  isOptional?: boolean;
}>;

/** One of a few known values, by the browser's own list. */
export function Select({ name, label, options, defaultValue, hint, error, isOptional }: SelectProps) {
  const id = useId();
  const { values, errors } = useFormState();
  const kept = values[name];
  const value = typeof kept === "string" ? kept : defaultValue;
  const message = error ?? errors[name];
  return (
    <FieldFrame {...{ id, label, hint, error: message, isOptional }}>
      <div className="relative">
        <select
          // After an action React resets the form, and a select to its first option: a new one starts with the kept value.
          key={value}
          id={id}
          name={name}
          defaultValue={value}
          aria-invalid={message ? true : undefined}
          aria-describedby={describedBy(id, { hint, error: message })}
          className={classNames(controlClass, "h-10 appearance-none pr-9")}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.isDisabled}>
              {option.label}
            </option>
          ))}
        </select>
        <ChevronDown className="pointer-events-none absolute top-3 right-3 size-4 text-muted" aria-hidden="true" />
      </div>
    </FieldFrame>
  );
}
