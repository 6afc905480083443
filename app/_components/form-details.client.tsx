"use client";

import type { ReactNode } from "react";
import { ActionForm, type ActionFormProps, useFormState } from "./action-form.client.tsx";
import { type ButtonLook, buttonClass } from "./button.tsx";

export type FormDetailsProps = Readonly<{
  /** The button that opens it: "Edit title". */
  trigger: ReactNode;
  /** What the same button says then: pressing it again leaves all as it was. */
  keep: ReactNode;
  look?: ButtonLook;
}> &
  Omit<ActionFormProps, "className">;

/**
 * A form that is opened in place, without JavaScript too. It is open again with whatever it was answered; give it a `key` of what it
 * changes, so that it is closed once that is done.
 */
export function FormDetails({ trigger, keep, look = {}, children, ...form }: FormDetailsProps) {
  return (
    <ActionForm {...form} className="grid gap-3 has-[details[open]]:w-full">
      <Details {...{ trigger, keep, look }}>{children}</Details>
    </ActionForm>
  );
}

type DetailsProps = Required<Pick<FormDetailsProps, "trigger" | "keep" | "look" | "children">>;

function Details({ trigger, keep, look, children }: DetailsProps) {
  const { isSubmitted } = useFormState();
  return (
    <details open={isSubmitted} className="group">
      <summary className={buttonClass(look)}>
        <span className="inline-flex items-center gap-1.5 group-open:hidden">{trigger}</span>
        <span className="hidden group-open:inline">{keep}</span>
      </summary>
      <div className="mt-3 grid max-w-reading gap-3">{children}</div>
    </details>
  );
}
