import { PASSWORD, signedInPerson } from "#core/accounts/testing/people.ts";
import { newId } from "#core/ids.ts";
import { type Attack, type Attackers, lanes } from "../attack.ts";
import type { Kind } from "../healthy.ts";
import { fieldsOf } from "../page-visitor.ts";

/** Somebody without an account sends wrong passwords for one account, from a few IP addresses. */
export const wrongPasswords: Attack = {
  id: "M4",
  name: "wrong passwords for a named account from 4 addresses",
  async prepare(_stage, attackers) {
    const victim = await signedInPerson("bob");
    const signIn = { perSecond: 0.5, does: "sign-in", login: victim.username, password: PASSWORD } as const;
    const healthy: Kind[] = [
      { ...signIn, name: "sign-in, known browser", browser: "known" },
      { ...signIn, name: "sign-in, new browser", browser: "new" },
    ];
    const guess = await guesser(attackers);
    return { healthy, run: (signal) => lanes(4, signal, (turn) => guess(victim.username, turn % 4), 500) };
  },
};

const ADDRESSES = 16;

/** Needs no account. Checking the password of a missing account costs as much as for a real account (decision 077). */
export const passwordFlood: Attack = {
  id: "A5",
  name: `passwords for accounts that do not exist, from ${ADDRESSES} addresses, 16 at a time`,
  async prepare(_stage, attackers) {
    const guess = await guesser(attackers);
    return { run: (signal) => lanes(16, signal, (turn) => guess(`nobody-${newId()}`, turn)) };
  },
};

async function guesser(attackers: Attackers): Promise<(login: string, from: number) => Promise<unknown>> {
  const page = await attackers.send({ path: "/login", headers: { accept: "text/html" } });
  const hidden = fieldsOf(page?.text ?? "", "password");
  return async (login, from) => {
    const form = new FormData();
    for (const [name, value] of [...hidden, ["login", login], ["password", `wrong-${newId()}`]])
      form.set(name as string, value as string);
    const encoded = new Response(form);
    const headers = { accept: "text/html", "content-type": encoded.headers.get("content-type") ?? "" };
    return attackers.send({ method: "POST", path: "/login", headers, body: Buffer.from(await encoded.arrayBuffer()), from });
  };
}
