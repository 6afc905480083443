import { afterEach, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { createInvitation, revokeInvitation } from "../organizations/invitations.ts";
import {
  freshName,
  from,
  fromElsewhere,
  linkedToken,
  organizationOf,
  PASSWORD,
  signedInPerson,
  staleActor,
} from "../testing/people.ts";
import { signUp } from "./sign-up.ts";
import { readSignUpPolicy, setSignUpPolicy } from "./sign-up-policy.ts";
import { verifyEmail } from "./verify-email.ts";

const set = (isOpen: boolean) => setSignUpPolicy(operatorCommand, { isOpen }, from);
afterEach(() => set(true));

function someone() {
  const username = freshName("lena");
  return { username, email: `${username}@example.test`, password: PASSWORD };
}

test("sign-up is open until an operator who has just signed in closes it", async () => {
  expect(await readSignUpPolicy()).toMatchObject({ isOpen: true });
  const [ada, opal] = [await signedInPerson(), await signedInPerson("opal", { isOperator: true })];
  await expect(setSignUpPolicy(ada.actor, { isOpen: false }, from)).rejects.toMatchObject({ code: "forbidden" });
  await expect(setSignUpPolicy(staleActor(opal.actor), { isOpen: false }, from)).rejects.toMatchObject({
    code: "reauthentication_required",
  });
  expect((await readSignUpPolicy()).isOpen).toBe(true);
  await setSignUpPolicy(opal.actor, { isOpen: false }, from);
  expect((await readSignUpPolicy()).isOpen).toBe(false);
  await expect(signUp(someone(), fromElsewhere())).rejects.toMatchObject({ code: "forbidden" });
});

test("while sign-up is closed, only an invited address can sign up, from its invitation", async () => {
  const admin = await signedInPerson();
  const organization = await organizationOf(admin);
  const guest = someone();
  const { id } = await createInvitation(admin.actor, organization.id, { email: guest.email, role: "read" }, from);
  const returnTo = `/invitations/${await linkedToken(guest.email, "invitations")}`;
  await set(false);
  await expect(signUp(guest, fromElsewhere())).rejects.toMatchObject({ code: "forbidden" });
  await expect(signUp({ ...someone(), returnTo }, fromElsewhere())).rejects.toMatchObject({ code: "forbidden", field: "email" });
  const { email } = await signUp({ ...guest, email: guest.email.toUpperCase(), returnTo }, fromElsewhere());

  const link = await linkedToken(email, "verify-email");
  await revokeInvitation(admin.actor, organization.id, id, from);
  await expect(verifyEmail(link, fromElsewhere(), { password: PASSWORD })).rejects.toMatchObject({ code: "forbidden" });
  await set(true);
  expect(await verifyEmail(link, fromElsewhere(), { password: PASSWORD })).toMatchObject({ purpose: "sign-up", returnTo });
});
