"use client";

import { ChevronDown, Eye, EyeOff } from "lucide-react";
import { type ComponentProps, type ReactNode, useId, useLayoutEffect, useState } from "react";
import { useFormState } from "./action-form.client.tsx";
import { classNames } from "./class-names.ts";
import { controlClass, describedBy, FieldError, FieldFrame } from "./field-frame.tsx";
import type { FormState } from "./form-state.ts";

type FieldProps = Readonly<{
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  isOptional?: boolean;
  aside?: ReactNode;
  /** For values that browsers must neither complete nor correct, such as IDs. */
  isMono?: boolean;
}> &
  Omit<ComponentProps<"input">, "name" | "id" | "type"> &
  Readonly<{ type?: "text" | "email" | "url" | "search" | "number" | "password" | "datetime-local" }>;

const verbatim = { autoComplete: "off", autoCapitalize: "none", spellCheck: false } as const;

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
        {...(isMono && verbatim)}
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

type TextAreaProps = Readonly<{
  name: string;
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  isOptional?: boolean;
  isMono?: boolean;
}> &
  Omit<ComponentProps<"textarea">, "name" | "id">;

export function TextArea({ name, label, hint, error, isOptional, isMono, className, ...area }: TextAreaProps) {
  const id = useId();
  useEarlyInput(id);
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

export type SelectProps = Readonly<{
  name: string;
  label: ReactNode;
  options: ReadonlyArray<Readonly<{ value: string; label: string; isDisabled?: boolean }>>;
  defaultValue?: string;
  hint?: ReactNode;
  error?: string;
  isOptional?: boolean;
}>;

export function Select({ name, label, options, defaultValue, hint, error, isOptional }: SelectProps) {
  const id = useId();
  const { values, errors } = useFormState();
  const kept = values[name];
  const value = typeof kept === "string" ? kept : defaultValue;
  const message = error ?? errors[name];
  return (
    <FieldFrame {...{ id, label, hint, error: message, isOptional }}>
      <SelectBox
        // After an action, React resets a select to the first option. A new key restores the kept value.
        key={value}
        id={id}
        name={name}
        defaultValue={value}
        aria-invalid={message ? true : undefined}
        aria-describedby={describedBy(id, { hint, error: message })}
        className={classNames(controlClass, "h-10")}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.isDisabled}>
            {option.label}
          </option>
        ))}
      </SelectBox>
    </FieldFrame>
  );
}

export function SelectBox({ className, ...select }: ComponentProps<"select">) {
  return (
    <div className="relative">
      <select {...select} className={classNames("appearance-none truncate pr-9", className)} />
      <ChevronDown className="pointer-events-none absolute inset-y-0 right-3 my-auto size-4 text-muted" aria-hidden="true" />
    </div>
  );
}

type PasswordFieldProps = Readonly<{
  name: string;
  label: ReactNode;
  autoComplete: "current-password" | "new-password";
  hint?: ReactNode;
  aside?: ReactNode;
}>;

export function PasswordField({ name, label, autoComplete, hint: rule, aside }: PasswordFieldProps) {
  const id = useId();
  const error = useFormState().errors[name];
  // The error repeats the rule, so the hint is left out.
  const hint = error ? undefined : rule;
  const [isShown, setShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <FieldFrame {...{ id, label, hint, error, aside }}>
      <div className="relative">
        <input
          id={id}
          name={name}
          type={isShown ? "text" : "password"}
          autoComplete={autoComplete}
          autoCapitalize="none"
          spellCheck={false}
          required
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy(id, { hint, error })}
          className={classNames(controlClass, "h-10 pr-11 noscript:pr-3")}
        />
        <button
          type="button"
          aria-label={isShown ? "Hide password" : "Show password"}
          aria-controls={id}
          onClick={() => setShown(!isShown)}
          className="absolute inset-y-1 right-1 grid w-9 place-items-center rounded-control text-muted hover:text-ink noscript:hidden"
        >
          <Icon className="size-4" aria-hidden="true" />
        </button>
      </div>
    </FieldFrame>
  );
}

type ChoiceRowProps = Readonly<{
  type: "checkbox" | "radio";
  name: string;
  value?: string;
  label: ReactNode;
  hint?: ReactNode;
  defaultChecked?: boolean;
  isDisabled?: boolean;
  isBoxed?: boolean;
}>;

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
        // After an action, React resets the input to its first state. A new key restores the kept state.
        key={String(isChecked)}
        type={type}
        name={name}
        value={value}
        defaultChecked={isChecked}
        disabled={isDisabled}
        // Without this attribute, the hint inside the label would become part of the accessible name.
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

type ChoicesProps = Readonly<{
  legend: ReactNode;
  isLegendHidden?: boolean;
  name: string;
  options: ReadonlyArray<Readonly<{ value: string; label: ReactNode; hint?: ReactNode }>>;
  defaultValue?: string;
  className?: string;
}>;

export function Choices({ legend, isLegendHidden, name, options, defaultValue, className }: ChoicesProps) {
  const id = useId();
  const error = useFormState().errors[name];
  return (
    <fieldset aria-describedby={describedBy(id, { error })}>
      <legend className={isLegendHidden ? "sr-only" : "mb-1.5 font-medium"}>{legend}</legend>
      <div className={classNames("grid gap-2", className)}>
        {options.map(({ value, label, hint }) => (
          <ChoiceRow key={value} type="radio" {...{ name, value, label, hint }} defaultChecked={value === defaultValue} isBoxed />
        ))}
      </div>
      <FieldError id={id} error={error} />
    </fieldset>
  );
}

/** Whether the submitted form had this value. Undefined if the form was not submitted and has no value of this name. */
function isKept({ values, isSubmitted }: FormState, name: string, value: string): boolean | undefined {
  const kept = values[name];
  if (kept === undefined) return isSubmitted ? false : undefined;
  return typeof kept === "string" ? kept === value : kept.includes(value);
}

type Typed = Pick<HTMLTextAreaElement, "value" | "selectionStart" | "selectionEnd">;

/** Restores what the user typed before hydration, because React resets a text area during hydration. */
function useEarlyInput(id: string): void {
  // The text is read during rendering, because an effect would run after the reset.
  const [typed] = useState(() => readTyped(id));
  useLayoutEffect(() => {
    const area = typed && find(id);
    if (!area) return;
    // The user has typed since the value was read.
    if (area.value !== area.defaultValue) return;
    if (typed.value === area.value && typed.selectionEnd === 0) return;
    if (typed.value !== area.value) area.value = typed.value;
    area.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  }, [id, typed]);
}

function readTyped(id: string): Typed | undefined {
  const area = typeof document === "undefined" ? undefined : find(id);
  return area && { value: area.value, selectionStart: area.selectionStart, selectionEnd: area.selectionEnd };
}

function find(id: string): HTMLTextAreaElement | undefined {
  const element = document.getElementById(id);
  return element instanceof HTMLTextAreaElement ? element : undefined;
}
