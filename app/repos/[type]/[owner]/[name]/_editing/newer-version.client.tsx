"use client";

import { useFormState } from "../../../../../_components/action-form.client.tsx";
import { FormMessage } from "../../../../../_components/page-layout.tsx";

export function NewerVersion({ again }: Readonly<{ again: string }>) {
  const { values } = useFormState();
  const { newerText, newerCommit, newerCommitHref, newerFileHref } = values;
  if (typeof newerText !== "string" || newerText === "") return null;
  return (
    <FormMessage tone="bad">
      <p>
        {newerText} Nothing was committed, and your changes are still here. Review{" "}
        {newerFileHref && (
          <>
            <a href={String(newerFileHref)} target="_blank" rel="noreferrer" className="underline">
              the newer version
            </a>{" "}
            or{" "}
          </>
        )}
        <a href={String(newerCommitHref)} target="_blank" rel="noreferrer" className="underline">
          the commit {newerCommit}
        </a>{" "}
        (in a new tab). {again}
      </p>
    </FormMessage>
  );
}

export function SeenCommit() {
  const { seen } = useFormState().values;
  const value = typeof seen === "string" ? seen : "";
  return <input key={value} type="hidden" name="seen" defaultValue={value} />;
}
