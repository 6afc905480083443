"use client";

import { createContext, type ReactNode, use, useActionState, useEffect, useMemo, useRef } from "react";
import { FormMessage } from "./form-message.tsx";
import type { FormAction, FormState, FormValues } from "./form-state.ts";
import { keepTyped } from "./keep-typed.client.ts";

const FormStateContext = createContext<FormState>({ values: {}, errors: {} });

/** The state of the form around a field. Outside an `ActionForm` it is empty, so fields also work in a plain `<form>`. */
export function useFormState(): FormState {
  return use(FormStateContext);
}

export type ActionFormProps = Readonly<{
  /** A server action made with `submitForm` (app/_server/form.ts). */
  action: FormAction;
  /** What the fields start with, by name. */
  values?: FormValues;
  /** Names the form for assistive technology where its heading does not. */
  label?: string;
  className?: string;
  children: ReactNode;
}>;

/**
 * A form that keeps what was typed, shows messages beside the fields and works without JavaScript: the same action then
 * answers with the whole page. Browser validation is off, so that there is one place and one wording for messages.
 */
export function ActionForm({ action, values = {}, label, className, children }: ActionFormProps) {
  // On the server the action itself: its name is what a form without JavaScript is sent with.
  const called = useMemo(() => (typeof window === "undefined" ? action : keepTyped(action)), [action]);
  const [state, submit] = useActionState(called, { values, errors: {} });
  const form = useRef<HTMLFormElement>(null);

  useEffect(() => {
    if (Object.keys(state.errors).length > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [state]);

  return (
    <FormStateContext value={state}>
      <form ref={form} action={submit} noValidate aria-label={label} className={className ?? "grid gap-5"}>
        {state.message && <FormMessage tone={state.message.tone}>{state.message.text}</FormMessage>}
        {children}
      </form>
    </FormStateContext>
  );
}
