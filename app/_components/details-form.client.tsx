"use client";

import type { ReactNode } from "react";
import { ActionForm, type ActionFormProps, SubmitButton, useFormState } from "./action-form.client.tsx";
import type { ButtonLook } from "./button-class.ts";
import { CancelButton, Disclosure } from "./disclosure.client.tsx";
import { Field } from "./fields.client.tsx";
import type { FormAction } from "./form-state.ts";

type ConfirmDestructiveProps = Readonly<{
  action: FormAction;
  trigger: string;
  title: ReactNode;
  confirm: string;
  /** The text that the user has to type. The action gets the text as `confirmation` and must check it. */
  phrase?: string;
  children: ReactNode;
  size?: ButtonLook["size"];
  isQuiet?: boolean;
}>;

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

export function useIsRefused(): boolean {
  const { errors, message } = useFormState();
  return Object.keys(errors).length > 0 || message?.tone === "bad";
}

type FormDetailsProps = Readonly<{
  trigger: ReactNode;
  look?: ButtonLook;
}> &
  Omit<ActionFormProps, "className">;

/** Works without JavaScript. Needs a `key` made of the values that the form changes, so that the form closes after a success. */
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
