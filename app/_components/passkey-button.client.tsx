"use client";

import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from "@simplewebauthn/browser";
import { Fingerprint, LoaderCircle } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useFormStatus } from "react-dom";
import { type ButtonLook, buttonClass } from "./button.tsx";
import { FormMessage } from "./form-message.tsx";

/** What a server action answers that begins something with a passkey. */
export type AskedPasskey =
  | { use: PublicKeyCredentialRequestOptionsJSON }
  | { make: PublicKeyCredentialCreationOptionsJSON }
  | { problem: string };

/** The field in which a form carries what the passkey answered. */
const ANSWER_FIELD = "passkeyAnswer";

export type PasskeyButtonProps = ButtonLook &
  Readonly<{
    /** Asks the service what the passkey has to answer. */
    ask: () => Promise<AskedPasskey>;
    children: ReactNode;
  }>;

/**
 * Stands in an `ActionForm` and sends it with what the person's passkey answered. Browsers know passkeys through scripts alone:
 * without them it is hidden, and the page offers another way.
 */
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

async function answerOf(ask: () => Promise<AskedPasskey>) {
  if (!browserSupportsWebAuthn()) throw new Refusal("This browser knows no passkeys. Use another way.");
  const asked = await ask();
  if ("problem" in asked) throw new Refusal(asked.problem);
  return "use" in asked ? startAuthentication({ optionsJSON: asked.use }) : startRegistration({ optionsJSON: asked.make });
}

/** Browsers do not tell why: somebody who takes their time, or says no, is to look the same to us (WebAuthn Level 3 §14.5.1). */
function explain(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof WebAuthnError && error.code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED") {
    return "This device has a passkey for your account already.";
  }
  if (error instanceof Error && ["NotAllowedError", "AbortError"].includes(error.name)) {
    return "Nothing came from a passkey: it was cancelled, took too long, or there is none for here on this device.";
  }
  return "The passkey could not be used. Try again, or use another way.";
}
