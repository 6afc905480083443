"use client";

import { useEffect, useId, useRef, useState } from "react";
import { useFormState } from "../../../../../_components/action-form.client.tsx";
import { describedBy, FieldFrame } from "../../../../../_components/field-frame.tsx";

type Props = Readonly<{ maxBytes: number; hint: string }>;

/** Without this component, the browser would forget the chosen files after a refusal. */
export function FileChooser({ maxBytes, hint }: Props) {
  const id = useId();
  const state = useFormState();
  const input = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<FileList | null>(null);
  // After an action, React resets the form, which forgets the chosen files.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after each response of the action
  useEffect(() => {
    if (chosen && input.current && input.current.files?.length === 0) input.current.files = chosen;
  }, [state, chosen]);
  const total = [...(chosen ?? [])].reduce((sum, { size }) => sum + size, 0);
  const tooLarge = total > maxBytes ? "These files are too large in total. Choose fewer, or use git." : undefined;
  const error = tooLarge ?? state.errors.files;
  return (
    <FieldFrame {...{ id, label: "Files", hint, error }}>
      <input
        ref={input}
        id={id}
        name="files"
        type="file"
        multiple
        required
        onChange={({ currentTarget: { files } }) => setChosen(keep(files))}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { hint, error })}
        className="w-full min-w-0 text-muted text-small file:mr-3 file:h-8 file:cursor-pointer file:rounded-control file:border file:border-line file:border-solid file:bg-surface file:px-3 file:font-medium file:text-ink hover:file:bg-sunken"
      />
    </FieldFrame>
  );
}

/** Copies the list, because emptying the input also empties the input's own list. */
function keep(files: FileList | null): FileList | null {
  if (!files || files.length === 0) return null;
  const own = new DataTransfer();
  for (const file of files) own.items.add(file);
  return own.files;
}
