"use client";

import { LoaderCircle } from "lucide-react";
import { unstable_isUnrecognizedActionError, unstable_rethrow } from "next/navigation";
import { createContext, type MouseEvent, type ReactNode, use, useActionState, useEffect, useMemo, useRef, useState } from "react";
import { useFormStatus } from "react-dom";
import { type ButtonLook, buttonClass } from "./button-class.ts";
import type { FormAction, FormState, FormValues } from "./form-state.ts";
import { FormMessage } from "./page-layout.tsx";
import { submittedValues } from "./submitted-values.ts";

const FormStateContext = createContext<FormState>({ values: {}, errors: {} });

/** Returns an empty state outside an `ActionForm`, so that fields also work in a plain `<form>`. */
export function useFormState(): FormState {
  return use(FormStateContext);
}

export type ActionFormProps = Readonly<{
  action: FormAction;
  values?: FormValues;
  /** The accessible name of a form that has no heading. */
  label?: string;
  className?: string;
  children: ReactNode;
}>;

/** The browser's own validation is off, so that all messages look the same. */
export function ActionForm({ action, values = {}, label, className, children }: ActionFormProps) {
  // The server renders the unwrapped action, because without JavaScript the browser sends the action's ID.
  const called = useMemo(() => (typeof window === "undefined" ? action : keepInput(action)), [action]);
  const first: FormState = { values, errors: {} };
  const [returned, submit] = useActionState(called, first);
  // If a request has the fields of two forms, `returned` can be the result of another form's action (S138).
  const state = returned?.errors ? returned : first;
  const form = useRef<HTMLFormElement>(null);
  // Messages about fields edited since the last refusal no longer apply.
  const [changed, setChanged] = useState<Readonly<{ since?: FormState; names: readonly string[] }>>({ names: [] });
  const corrected = changed.since === state ? changed.names : [];
  const shown = {
    ...state,
    errors: Object.fromEntries(Object.entries(state.errors).filter(([name]) => !corrected.includes(name))),
  };

  useEffect(() => {
    if (Object.keys(state.errors).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [state]);

  return (
    <FormStateContext value={shown}>
      <form
        ref={form}
        action={submit}
        noValidate
        aria-label={label}
        className={className ?? "grid gap-5"}
        onInput={({ target }) => {
          const { name } = target as HTMLInputElement;
          if (shown.errors[name]) setChanged({ since: state, names: [...corrected, name] });
        }}
      >
        {state.message && <FormMessage tone={state.message.tone}>{state.message.text}</FormMessage>}
        {children}
      </form>
    </FormStateContext>
  );
}

export type SubmitButtonProps = ButtonLook &
  Readonly<{
    children: ReactNode;
    name?: string;
    value?: string;
    className?: string;
  }>;

/** The button stays focusable while the form is being sent, because a disabled button would lose the keyboard focus. */
export function SubmitButton({ children, name, value, className, variant = "primary", size, isWide }: SubmitButtonProps) {
  const { pending, data } = useFormStatus();
  const isPressed = pending && (name === undefined || data?.get(name) === value);
  const swallow = (event: MouseEvent) => {
    if (pending) event.preventDefault();
  };
  return (
    <button
      type="submit"
      name={name}
      value={value}
      aria-disabled={pending || undefined}
      onClick={swallow}
      className={buttonClass({ variant, size, isWide }, className ?? "justify-self-start")}
    >
      {isPressed && <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />}
      {children}
      {isPressed && <span className="sr-only">, sending</span>}
    </button>
  );
}

export type ActionButtonProps = SubmitButtonProps &
  Pick<ActionFormProps, "action" | "label"> &
  Readonly<{
    fields?: Readonly<Record<string, string>>;
  }>;

export function ActionButton({ action, label, fields = {}, ...submit }: ActionButtonProps) {
  return (
    <ActionForm action={action} label={label} className="grid gap-2">
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <SubmitButton variant="secondary" size="small" {...submit} />
    </ActionForm>
  );
}

const STALE =
  "The service was updated while this page was open. Nothing was changed. Copy the text that you still need, then reload the page and try again.";
const UNSENT = "The server did not respond. Check your connection, and try again if the change was not made.";

/** Shows a failed request as a message in the form, because app/global-error.tsx would replace the form and the input. */
function keepInput(action: FormAction): FormAction {
  return async (previous, data) => {
    try {
      return await action(previous, data);
    } catch (error) {
      const text = failureOf(error);
      return { values: submittedValues(data), isSubmitted: true, errors: {}, message: { tone: "bad", text } };
    }
  };
}

/** Rethrows Next's own signals, such as redirects. */
export function failureOf(error: unknown): string {
  unstable_rethrow(error);
  return unstable_isUnrecognizedActionError(error) ? STALE : UNSENT;
}
