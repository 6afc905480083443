import { Secret, TOTP } from "otpauth";
import type { Person } from "../../../access/actor.ts";
import { db } from "../../../db.ts";
import { completeSignIn } from "../../sessions/complete-sign-in.ts";
import { fromElsewhere, type TestPerson } from "../../testing/people.ts";
import { beginPasskeyRegistration, registerPasskey } from "../register-passkey.ts";
import { confirmTotp, findTotpEnrolment, startTotpEnrolment } from "../totp-enrolment.ts";
import { SoftwarePasskey } from "./software-passkey.ts";

/** RFC 6238. */
type TestAuthenticator = { secret: string; code: (stepsAhead?: number) => string };

export function authenticatorOf(secret: string): TestAuthenticator {
  const key = Secret.fromBase32(secret);
  return {
    secret,
    code: (stepsAhead = 0) => TOTP.generate({ secret: key, timestamp: Date.now() + stepsAhead * 30_000 }),
  };
}

export async function setUpAuthenticator(actor: Person): Promise<TestAuthenticator> {
  await startTotpEnrolment(actor);
  const enrolment = await findTotpEnrolment(actor);
  const authenticator = authenticatorOf(enrolment?.secret ?? "");
  await confirmTotp(actor, { code: authenticator.code(-1) }, fromElsewhere());
  return authenticator;
}

export async function setUpPasskey(actor: Person, passkey = new SoftwarePasskey()): Promise<SoftwarePasskey> {
  const options = await beginPasskeyRegistration(actor, fromElsewhere());
  await registerPasskey(actor, passkey.register(options), fromElsewhere());
  return passkey;
}

export async function firstStep({ id }: Pick<TestPerson, "id">): Promise<string> {
  const first = { methods: ["pwd"], provedBy: "password" } as const;
  const outcome = await db().$transaction((tx) => completeSignIn(tx, id, first, fromElsewhere()));
  if (outcome.step !== "second-step") throw new Error("no second step was required");
  return outcome.token;
}
