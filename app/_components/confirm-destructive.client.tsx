"use client";

import type { ReactNode } from "react";
import { ActionForm, useFormState } from "./action-form.client.tsx";
import { type ButtonLook, buttonClass } from "./button.tsx";
import { Field } from "./field.client.tsx";
import type { FormAction } from "./form-state.ts";
import { SubmitButton } from "./submit-button.client.tsx";

export type ConfirmDestructiveProps = Readonly<{
  action: FormAction;
  /** The first button: "Delete this app". */
  trigger: string;
  /** Asks and names the thing: "Delete Paper Lantern?" */
  title: ReactNode;
  /** The last button says the act again: "Delete Paper Lantern". */
  confirm: string;
  /** For grave acts: what has to be typed, usually the thing's name. The action receives it as `confirmation` and checks it. */
  phrase?: string;
  /** What will happen. */
  children: ReactNode;
  size?: ButtonLook["size"];
  /** For an act that is offered with each thing of a list: the first button then does not call out. */
  isQuiet?: boolean;
}>;

/**
 * Asks before something is destroyed, in place and without JavaScript: the first button opens the question, pressing it
 * again takes it back. A refused answer leaves it open with the reason.
 */
export function ConfirmDestructive({ action, ...question }: ConfirmDestructiveProps) {
  return (
    <ActionForm action={action} className="grid gap-3">
      <Question {...question} />
    </ActionForm>
  );
}

function Question({ trigger, title, confirm, phrase, children, size, isQuiet }: Omit<ConfirmDestructiveProps, "action">) {
  const { errors, message } = useFormState();
  const isRefused = Object.keys(errors).length > 0 || message?.tone === "bad";
  return (
    <details open={isRefused} className="group">
      <summary className={buttonClass({ variant: isQuiet ? "quiet" : "danger", size }, "group-open:text-ink")}>
        <span className="group-open:hidden">{trigger}</span>
        <span className="hidden group-open:inline">Keep it</span>
      </summary>
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
        <div>
          <SubmitButton variant="destroy" size={size}>
            {confirm}
          </SubmitButton>
        </div>
      </div>
    </details>
  );
}
