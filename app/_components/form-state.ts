import type { SafeHtml } from "./safe-html.ts";

export type FormValues = Readonly<Record<string, string | readonly string[] | undefined>>;

export type RevealedSecret = Readonly<{ label: string; value: string }>;

export type FormState = Readonly<{
  /** Never contains passwords or secrets. */
  values: FormValues;
  /** Set after the form was submitted. A checkbox without a value was then unticked. */
  isSubmitted?: boolean;
  errors: Readonly<Record<string, string>>;
  message?: Readonly<{ tone: "good" | "bad"; text: string }>;
  secret?: RevealedSecret;
  /** The rendered preview. Null if there is nothing to show. */
  preview?: SafeHtml | null;
}>;

export const PREVIEW = "preview";

export type FormAction = (previous: FormState, data: FormData) => Promise<FormState>;
