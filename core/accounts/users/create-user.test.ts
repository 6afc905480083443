import { describe, expect, test } from "vitest";
import { operatorCommand } from "../../access/actor.ts";
import { db } from "../../db.ts";
import { auditTrail, freshName, from, organizationOf, outcomes, PASSWORD, signedInPerson } from "../testing/people.ts";
import { createUser } from "./create-user.ts";
import { findUser, findUserByUsername } from "./find-user.ts";

const input = (username = freshName("ada")) => ({ username, email: `${username}@example.test`, password: PASSWORD });

describe("createUser", () => {
  test("treats the address as verified and stores only the password's hash", async () => {
    const { id } = await createUser(operatorCommand, { ...input(), fullName: "Ada  Lovelace\u202e" }, from);
    const row = await db().user.findUniqueOrThrow({ where: { id } });
    expect(row).toMatchObject({ fullName: "Ada Lovelace", isOperator: false });
    expect(row.emailVerifiedAt).not.toBeNull();
    expect(row.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await findUser(id)).not.toHaveProperty("passwordHash");
    expect(await auditTrail({ subjectId: id })).toEqual(["user.create"]);
  });

  test("uses the username, as it is spelled, if there is no full name", async () => {
    const username = `${freshName("Ada")}.Byron`;
    const { id } = await createUser(operatorCommand, input(username), from);
    expect(await findUserByUsername(username.toLowerCase())).toMatchObject({ id, username, fullName: username });
  });

  test("S139 refuses an organization's name, and all parallel claims of a username except one", async () => {
    const name = freshName("quay");
    const claims = Array.from({ length: 5 }, (_, i) =>
      createUser(operatorCommand, { ...input(i % 2 ? name : name.toUpperCase()), email: `${freshName("x")}@example.test` }, from),
    );
    expect(await outcomes(claims)).toEqual([...Array(4).fill("conflict"), "ok"]);
    const admin = await signedInPerson();
    const organization = await organizationOf(admin);
    await expect(createUser(operatorCommand, input(organization.name.toUpperCase()), from)).rejects.toMatchObject({
      code: "conflict",
      field: "username",
    });
  });

  test("accepts one of parallel claims of an address, and the refused claims leave no handle", async () => {
    const email = `${freshName("ada")}@example.test`;
    const names = Array.from({ length: 5 }, () => freshName("ada"));
    const claims = names.map((username, i) =>
      createUser(operatorCommand, { ...input(username), email: i % 2 ? email : email.toUpperCase() }, from),
    );
    expect(await outcomes(claims)).toEqual([...Array(4).fill("conflict"), "ok"]);
    expect(await db().handle.count({ where: { handle: { in: names } } })).toBe(1);
  });

  test("is only for operators", async () => {
    const person = await signedInPerson();
    const operator = await signedInPerson("op", { isOperator: true });
    await expect(createUser(person.actor, input(), from)).rejects.toMatchObject({ code: "forbidden" });
    await expect(createUser(operator.actor, input(), from)).resolves.toBeDefined();
  });
});
