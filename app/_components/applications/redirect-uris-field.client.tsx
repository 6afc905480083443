"use client";

import { explainRedirectUri, splitRedirectUris } from "@keyhook/sdk";
import { type ReactNode, useState } from "react";
import { useFormState } from "../action-form.client.tsx";
import type { FormState } from "../form-state.ts";
import { TextArea } from "../text-area.client.tsx";

export type RedirectUrisFieldProps = Readonly<{
  name: "redirectUris" | "postLogoutRedirectUris";
  label: string;
  hint?: ReactNode;
  isOptional?: boolean;
  /** The service's own origin, to which no app may send people (S20). */
  ownOrigin: string;
  placeholder?: string;
}>;

/**
 * Addresses, one per line, judged by the rules that the service applies on saving. What is wrong is said when the person leaves the
 * field, not in the middle of a word, and goes as soon as it is put right.
 */
export function RedirectUrisField({ ownOrigin, ...field }: RedirectUrisFieldProps) {
  const { errors } = useFormState();
  const [judged, setJudged] = useState<Judgement>();
  // What the service says about a submission counts until the text is judged again.
  const isCurrent = judged?.after === errors;
  const problems = isCurrent ? judged.problems : [];
  const judge = (text: string) => setJudged({ after: errors, problems: findProblems(text, ownOrigin) });
  return (
    <div className="grid gap-2">
      <TextArea
        {...field}
        error={isCurrent ? summary(problems) : undefined}
        isMono
        rows={3}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        wrap="off"
        onBlur={({ target }) => judge(target.value)}
        onChange={({ target }) => (problems.length > 0 || errors[field.name]) && judge(target.value)}
      />
      <div role="status" className="text-bad text-small empty:hidden">
        {problems.length > 0 && (
          <ul className="grid gap-1">
            {problems.map(({ uri, reason }) => (
              <li key={uri} className="break-words">
                <code className="break-all">{uri}</code> {reason}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The field's own message; empty, where nothing is wrong any more, it takes the service's away. */
function summary(problems: readonly Problem[]): string {
  if (problems.length === 0) return "";
  return problems.length === 1 ? "One address cannot be used:" : `${problems.length} addresses cannot be used:`;
}

type Judgement = Readonly<{ after: FormState["errors"]; problems: readonly Problem[] }>;

type Problem = Readonly<{ uri: string; reason: string }>;

function findProblems(text: string, ownOrigin: string): Problem[] {
  return splitRedirectUris(text).flatMap((uri) => {
    const reason = explainRedirectUri(uri, { ownOrigin });
    return reason ? [{ uri, reason }] : [];
  });
}
