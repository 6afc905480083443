import type { SafeHtml } from "./safe-html.ts";

/** The values with which fields are filled again. A field with several values (checkboxes of one name) keeps all of them. */
export type FormValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A secret, which is shown once, right after it was created. */
export type RevealedSecret = Readonly<{ label: string; value: string }>;

/**
 * The state of a form: its action returns it, and the form is rendered from it, with or without JavaScript. A successful action that leads
 * to another page redirects instead.
 */
export type FormState = Readonly<{
  /** What the person typed, so that nothing is lost; never passwords or secrets. */
  values: FormValues;
  /** Whether `values` came from a submission. If so, a checkbox without a value in them was unticked. */
  isSubmitted?: boolean;
  /** A message for each wrong field, by the field's name. */
  errors: Readonly<Record<string, string>>;
  /** A sentence about the whole form. */
  message?: Readonly<{ tone: "good" | "bad"; text: string }>;
  secret?: RevealedSecret;
  /** The Markdown of the form as readers will see it, if the person requested a preview; null if there is nothing to show. */
  preview?: SafeHtml | null;
}>;

/** The value of the button `intent` that asks for a preview. */
export const PREVIEW = "preview";

export type FormAction = (previous: FormState, data: FormData) => Promise<FormState>;
