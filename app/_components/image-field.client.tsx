"use client";

import { type ReactNode, useId } from "react";
import { useFormState } from "./action-form.client.tsx";
import { describedBy, FieldFrame } from "./field-frame.tsx";
import { ChoiceRow } from "./fields.client.tsx";

type ImageFieldProps = Readonly<{
  name: string;
  label: string;
  current: ReactNode;
  removeName?: string | undefined;
}>;

export function ImageField({ name, label, current, removeName }: ImageFieldProps) {
  const id = useId();
  const error = useFormState().errors[name];
  const hint = "PNG, JPEG, WebP, GIF or AVIF, up to 5\u00a0MB. It is cropped to a square.";
  return (
    <div className="flex flex-wrap items-start gap-4">
      {current}
      <div className="min-w-0 flex-1 basis-56">
        <FieldFrame {...{ id, label, hint, error, isOptional: true }}>
          <input
            id={id}
            name={name}
            type="file"
            accept="image/png,image/jpeg,image/webp,image/gif,image/avif"
            aria-invalid={error ? true : undefined}
            aria-describedby={describedBy(id, { hint, error })}
            className="w-full min-w-0 text-muted text-small file:mr-3 file:h-8 file:cursor-pointer file:rounded-control file:border file:border-line file:border-solid file:bg-surface file:px-3 file:font-medium file:text-ink hover:file:bg-sunken"
          />
        </FieldFrame>
        {removeName && <ChoiceRow type="checkbox" name={removeName} label="Delete the current picture" />}
      </div>
    </div>
  );
}
