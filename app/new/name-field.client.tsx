"use client";

import { useState } from "react";
import { Field } from "../_components/fields.client.tsx";

/** core/hub/repos/repo.ts checks these rules again. */
const rules: readonly [RegExp, string][] = [
  [/[^A-Za-z0-9._-]/, "Use letters, digits, . _ and - only."],
  [/^[.-]|[.-]$/, "Begin and end with a letter, a digit or _."],
  [/--|\.\./, "Do not use -- or .. in the name."],
  [/\.(git|ipynb|lock|atom|rss)$/i, "The name cannot end in .git, .ipynb, .lock, .atom or .rss."],
];

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
