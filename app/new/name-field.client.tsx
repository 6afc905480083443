"use client";

import { useState } from "react";
import { Field } from "../_components/fields.client.tsx";

/** The rules of core/hub/repos/repo.ts, checked while the person types. core checks them again. */
const rules: readonly [RegExp, string][] = [
  [/[^A-Za-z0-9._-]/, "Use letters, digits, . _ and - only."],
  [/^[.-]|[.-]$/, "Begin and end with a letter, a digit or _."],
  [/--|\.\./, "Do not use -- or .. in the name."],
  [/\.(git|ipynb|lock|atom|rss)$/i, "The name cannot end in .git, .ipynb, .lock, .atom or .rss."],
];

/** The field for the name. It shows mistakes immediately, or after the form was submitted if there is no JavaScript. */
export function NameField() {
  const [typed, setTyped] = useState<string>();
  const wrong = typed ? rules.find(([pattern]) => pattern.test(typed.trim()))?.[1] : undefined;
  return (
    <Field
      name="name"
      label="Name"
      hint="Part of the repository's URL."
      error={wrong}
      maxLength={96}
      isMono
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
