"use client";

import { explainRedirectUri, splitRedirectUris } from "@keyhook/sdk";
import { type ReactNode, useState } from "react";
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
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const judge = (text: string) => setProblems(findProblems(text, ownOrigin));
  return (
    <div className="grid gap-2">
      <TextArea
        {...field}
        isMono
        rows={3}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        wrap="off"
        onBlur={({ target }) => judge(target.value)}
        onChange={({ target }) => problems.length > 0 && judge(target.value)}
      />
      <ul role="status" aria-label={`Problems in ${field.label}`} className="grid gap-1 text-bad text-small empty:hidden">
        {problems.map(({ uri, reason }) => (
          <li key={uri} className="break-words">
            <code className="break-all">{uri}</code> {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}

type Problem = Readonly<{ uri: string; reason: string }>;

function findProblems(text: string, ownOrigin: string): Problem[] {
  return splitRedirectUris(text).flatMap((uri) => {
    const reason = explainRedirectUri(uri, { ownOrigin });
    return reason ? [{ uri, reason }] : [];
  });
}
