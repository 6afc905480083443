"use client";

import { useFormState } from "../../../../../_components/action-form.client.tsx";
import { FormMessage } from "../../../../../_components/form-message.tsx";

/** Says that somebody else was quicker, and where to look at what they did; the form keeps what was typed. */
export function NewerVersion({ again }: Readonly<{ again: string }>) {
  const { values } = useFormState();
  const { newerText, newerCommit, newerCommitHref, newerFileHref } = values;
  if (typeof newerText !== "string" || newerText === "") return null;
  return (
    <FormMessage tone="bad">
      <p>
        {newerText} Nothing of yours was committed, and nothing of it is lost: it is still here. Look at{" "}
        {newerFileHref && (
          <>
            <a href={String(newerFileHref)} target="_blank" rel="noreferrer" className="underline">
              the newer version
            </a>{" "}
            or{" "}
          </>
        )}
        <a href={String(newerCommitHref)} target="_blank" rel="noreferrer" className="underline">
          commit {newerCommit}
        </a>{" "}
        (each in a tab of its own). {again}
      </p>
    </FormMessage>
  );
}

/** A value that the form sends along, and that its action may change. */
export function SeenCommit() {
  const { seen } = useFormState().values;
  const value = typeof seen === "string" ? seen : "";
  return <input key={value} type="hidden" name="seen" defaultValue={value} />;
}
