"use client";

import type { PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/browser";
import { Fingerprint, LoaderCircle } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useFormStatus } from "react-dom";
import { type ButtonLook, buttonClass } from "./button-class.ts";
import { FormMessage } from "./page-layout.tsx";

export type PasskeyOptions =
  | { use: PublicKeyCredentialRequestOptionsJSON }
  | { make: PublicKeyCredentialCreationOptionsJSON }
  | { problem: string };

const ANSWER_FIELD = "passkeyAnswer";

type PasskeyButtonProps = ButtonLook &
  Readonly<{
    ask: () => Promise<PasskeyOptions>;
    children: ReactNode;
  }>;

/** Hidden without scripts, because browsers offer passkeys only to scripts. */
export function PasskeyButton({ ask, children, variant, size, isWide }: PasskeyButtonProps) {
  const answer = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { pending } = useFormStatus();

  const press = async () => {
    if (isBusy || pending || !answer.current) return;
    setProblem(undefined);
    setBusy(true);
    try {
      answer.current.value = JSON.stringify(await answerOf(ask));
      answer.current.form?.requestSubmit();
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };

  const isWaiting = isBusy || pending;
  return (
    <div className="grid gap-3 noscript:hidden">
      {problem && <FormMessage tone="bad">{problem}</FormMessage>}
      <input ref={answer} type="hidden" name={ANSWER_FIELD} />
      <div>
        <button
          type="button"
          onClick={press}
          aria-disabled={isWaiting || undefined}
          className={buttonClass({ variant, size, isWide })}
        >
          {isWaiting ? (
            <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
          ) : (
            <Fingerprint className="size-4" aria-hidden="true" />
          )}
          {children}
        </button>
      </div>
    </div>
  );
}

class Refusal extends Error {}

async function answerOf(ask: () => Promise<PasskeyOptions>) {
  // The library is loaded on use, because most users have no passkey.
  const { browserSupportsWebAuthn, startAuthentication, startRegistration } = await import("@simplewebauthn/browser");
  if (!browserSupportsWebAuthn())
    throw new Refusal("This browser does not support passkeys. Use another browser or another method.");
  const asked = await ask();
  if ("problem" in asked) throw new Refusal(asked.problem);
  if ("use" in asked) return startAuthentication({ optionsJSON: asked.use });
  return startRegistration({ optionsJSON: asked.make }).catch((error: unknown) => {
    throw isUnanswered(error) ? new Refusal("The request was cancelled or timed out. Try again.") : error;
  });
}

const isUnanswered = (error: unknown): boolean =>
  error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name);

/** To a site, a timeout and a refusal must look the same (WebAuthn Level 3 §14.5.1). Browsers mostly hide the cause. */
function explain(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Error && "code" in error && error.code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED") {
    return "This device already has a passkey for your account.";
  }
  if (isUnanswered(error)) {
    return "The request was cancelled or timed out, or this device has no passkey for this service. Try again, or use another method.";
  }
  return "The passkey request failed. Try again, or use another method.";
}
