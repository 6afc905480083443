"use client";

import type { ReactNode } from "react";
import { ActionForm, type ActionFormProps, SubmitButton, useFormState } from "./action-form.client.tsx";
import type { ButtonLook } from "./button-class.ts";
import { CancelButton, Disclosure } from "./disclosure.client.tsx";
import { Field } from "./fields.client.tsx";
import type { FormAction } from "./form-state.ts";

type ConfirmDestructiveProps = Readonly<{
  action: FormAction;
  /** The first button: "Delete this app". */
  trigger: string;
  /** The question, which names the object: "Delete Paper Lantern?" */
  title: ReactNode;
  /** The last button, which repeats the action: "Delete Paper Lantern". */
  confirm: string;
  /**
   * For serious actions: the text that the person has to type, usually the object's name. The action receives the typed text as
   * `confirmation` and checks it.
   */
  phrase?: string;
  /** What will happen if the person confirms. */
  children: ReactNode;
  size?: ButtonLook["size"];
  /** For an action on each item of a list: the first button is then less prominent. */
  isQuiet?: boolean;
}>;

/**
 * Asks before something is destroyed, in place, also without JavaScript. If the action is refused, the question stays open and shows the
 * reason.
 */
export function ConfirmDestructive({ action, ...question }: ConfirmDestructiveProps) {
  return (
    <ActionForm action={action} className="grid gap-3">
      <Question {...question} />
    </ActionForm>
  );
}

function Question({ trigger, title, confirm, phrase, children, size, isQuiet }: Omit<ConfirmDestructiveProps, "action">) {
  return (
    <Disclosure trigger={trigger} look={{ variant: isQuiet ? "quiet" : "danger", size }} isOpen={useIsRefused()}>
      <div className="mt-3 grid max-w-reading gap-3 rounded-control border border-bad/45 bg-surface p-4 text-left">
        <p className="font-medium">{title}</p>
        <div className="text-muted text-small">{children}</div>
        {phrase && (
          <Field
            name="confirmation"
            label={
              <>
                Type <code className="select-all">{phrase}</code> to confirm
              </>
            }
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
        <div className="flex flex-wrap gap-2">
          <SubmitButton variant="destroy" size={size}>
            {confirm}
          </SubmitButton>
          <CancelButton size={size} />
        </div>
      </div>
    </Disclosure>
  );
}

/** Whether the enclosing form's action refused the last submission. */
export function useIsRefused(): boolean {
  const { errors, message } = useFormState();
  return Object.keys(errors).length > 0 || message?.tone === "bad";
}

type FormDetailsProps = Readonly<{
  /** The button that opens the form: "Edit title". */
  trigger: ReactNode;
  look?: ButtonLook;
}> &
  Omit<ActionFormProps, "className">;

/**
 * A form that opens in place, also without JavaScript. The form stays open when its action was refused. Give it a `key` made of the values
 * that it changes, so that it closes after a success, and place a `CancelButton` beside the submit button.
 */
export function FormDetails({ trigger, look, children, ...form }: FormDetailsProps) {
  return (
    <ActionForm {...form} className="grid gap-3 has-[details[open]]:w-full">
      <Details {...{ trigger, look }}>{children}</Details>
    </ActionForm>
  );
}

function Details({ trigger, look, children }: Pick<FormDetailsProps, "trigger" | "look" | "children">) {
  return (
    <Disclosure {...{ trigger, look }} isOpen={useFormState().isSubmitted}>
      <div className="mt-3 grid max-w-reading gap-3">{children}</div>
    </Disclosure>
  );
}
