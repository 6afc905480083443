"use client";

import { explainRedirectUri, splitRedirectUris } from "@keyhook/sdk";
import { type ReactNode, useState } from "react";
import { useFormState } from "../action-form.client.tsx";
import { TextArea } from "../fields.client.tsx";

type RedirectUrisFieldProps = Readonly<{
  name: "redirectUris" | "postLogoutRedirectUris";
  label: string;
  hint?: ReactNode;
  isOptional?: boolean;
  /** No app may send users to this origin (S20). */
  ownOrigin: string;
  placeholder?: string;
}>;

export function RedirectUrisField({ ownOrigin, ...field }: RedirectUrisFieldProps) {
  const refusal = useFormState().errors[field.name];
  const [checked, setChecked] = useState<Check>();
  // The service's message about a submission stays until the text is checked again.
  const problems = checked && checked.after === refusal ? checked.problems : undefined;
  const check = (text: string) => setChecked({ after: refusal, problems: findProblems(text, ownOrigin) });
  return (
    <TextArea
      {...field}
      error={problems && (problems.length > 0 ? <Problems problems={problems} /> : "")}
      isMono
      rows={3}
      spellCheck={false}
      autoCapitalize="none"
      autoComplete="off"
      onBlur={({ target }) => check(target.value)}
      onChange={({ target }) => problems?.length && check(target.value)}
    />
  );
}

function Problems({ problems }: Readonly<{ problems: readonly Problem[] }>) {
  return (
    <ul role="status" className="grid gap-1">
      {problems.map(({ uri, reason }) => (
        <li key={uri} className="break-words">
          <code className="break-all">{uri}</code> {reason}
        </li>
      ))}
    </ul>
  );
}

type Check = Readonly<{ after: string | undefined; problems: readonly Problem[] }>;

type Problem = Readonly<{ uri: string; reason: string }>;

function findProblems(text: string, ownOrigin: string): Problem[] {
  return splitRedirectUris(text).flatMap((uri) => {
    const reason = explainRedirectUri(uri, { ownOrigin });
    return reason ? [{ uri, reason }] : [];
  });
}
