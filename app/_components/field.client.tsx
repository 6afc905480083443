"use client";

import { type ComponentProps, type ReactNode, useId } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import { controlClass, describedBy, FieldFrame } from "./field-frame.tsx";

export type FieldProps = Readonly<{
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  /** Overrides the form's own message for this name. */
  error?: string;
  isOptional?: boolean;
  aside?: ReactNode;
  /** For ids, addresses of machines and codes. */
  isMono?: boolean;
}> &
  Omit<ComponentProps<"input">, "name" | "id" | "type"> &
  Readonly<{ type?: "text" | "email" | "url" | "search" | "number" | "password" }>;

/** One line of text. Takes its value and its message from the form around it by `name`. */
export function Field({ name, label, hint, error, isOptional, aside, isMono, type = "text", className, ...input }: FieldProps) {
  const id = useId();
  const { values, errors } = useFormState();
  const kept = values[name];
  const message = error ?? errors[name];
  return (
    <FieldFrame {...{ id, label, hint, error: message, isOptional, aside }}>
      <input
        defaultValue={typeof kept === "string" ? kept : undefined}
        required={!isOptional}
        {...input}
        id={id}
        name={name}
        type={type}
        aria-invalid={message ? true : undefined}
        aria-describedby={describedBy(id, { hint, error: message })}
        className={classNames(controlClass, "h-10", isMono && "font-mono text-small", className)}
      />
    </FieldFrame>
  );
}
