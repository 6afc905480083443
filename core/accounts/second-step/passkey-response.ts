import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { z } from "zod";
import { passkeyRefused } from "./passkey-refused.ts";

/**
 * What browsers send (WebAuthn Level 3 §5.1.8, `toJSON`). The verifying library does not check the shape, so it is checked
 * here; we request no extensions.
 */
const base64url = (maxCharacters: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .max(maxCharacters);

const credential = {
  id: base64url(1_400), // §4: at most 1,023 bytes
  rawId: base64url(1_400),
  type: z.literal("public-key"),
  authenticatorAttachment: z.string().max(40).nullish(),
};

const authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_000),
    authenticatorData: base64url(8_000),
    signature: base64url(8_000),
    userHandle: base64url(200).nullish(),
  }),
});

const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_000),
    attestationObject: base64url(40_000),
    transports: z
      .array(z.string().regex(/^[a-z-]{1,20}$/))
      .max(10)
      .optional(),
  }),
});

/** @throws ServiceError `unauthorized`, as for any other response that cannot be valid */
export function parseAuthentication(value: unknown): AuthenticationResponseJSON {
  return { ...parse(authentication, value), clientExtensionResults: {} } as AuthenticationResponseJSON;
}

/** @throws ServiceError `unauthorized` */
export function parseRegistration(value: unknown): RegistrationResponseJSON {
  return { ...parse(registration, value), clientExtensionResults: {} } as RegistrationResponseJSON;
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw passkeyRefused(parsed.error);
  return parsed.data;
}
