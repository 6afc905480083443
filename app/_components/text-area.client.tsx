"use client";

import { type ComponentProps, type ReactNode, useId } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import { controlClass, describedBy, FieldFrame } from "./field-frame.tsx";
import { useTypedBefore } from "./typed-before.client.ts";

export type TextAreaProps = Readonly<{
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  isOptional?: boolean;
  /** For lists of addresses and code. */
  isMono?: boolean;
}> &
  Omit<ComponentProps<"textarea">, "name" | "id">;

/** Several lines of text; it grows with what is in it. */
export function TextArea({ name, label, hint, error, isOptional, isMono, className, ...area }: TextAreaProps) {
  const id = useId();
  useTypedBefore(id);
  const { values, errors } = useFormState();
  const kept = values[name];
  const message = error ?? errors[name];
  return (
    <FieldFrame {...{ id, label, hint, error: message, isOptional }}>
      <textarea
        defaultValue={typeof kept === "string" ? kept : undefined}
        required={!isOptional}
        rows={3}
        {...area}
        id={id}
        name={name}
        aria-invalid={message ? true : undefined}
        aria-describedby={describedBy(id, { hint, error: message })}
        className={classNames(controlClass, "field-sizing-content min-h-20 py-2", isMono && "font-mono text-small", className)}
      />
    </FieldFrame>
  );
}
