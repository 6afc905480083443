"use client";

import { useState } from "react";
import { Field } from "../_components/field.client.tsx";

/** What core/hub/repos/parse-repo-name.ts says, while one types; it has the last word. */
const rules: readonly [RegExp, string][] = [
  [/[^A-Za-z0-9._-]/, "Use letters, digits, . _ and - only."],
  [/^[.-]|[.-]$/, "Begin and end with a letter, a digit or _."],
  [/--|\.\./, "No -- and no .. in it."],
  [/\.(git|ipynb|lock|atom|rss)$/i, "It cannot end in .git, .ipynb, .lock, .atom or .rss."],
];

/** The name, with what is wrong with it said at once. Without JavaScript it is said when the form was sent. */
export function NameField() {
  const [typed, setTyped] = useState<string>();
  const wrong = typed ? rules.find(([pattern]) => pattern.test(typed.trim()))?.[1] : undefined;
  return (
    <Field
      name="name"
      label="Name"
      hint="Part of its address."
      error={wrong}
      maxLength={96}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      isMono
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}
