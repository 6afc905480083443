import { expect, test } from "vitest";
import { anonymous } from "../../access/actor.ts";
import { freshName, organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { countStatements } from "../../testing/count-statements.ts";
import { someRepo } from "../testing/repos.ts";
import { findRepo, type RepoAction } from "./find-repo.ts";

test("S136 a hidden and a missing repository take the same statements", async () => {
  const [ada, bea] = [await signedInPerson("ada"), await signedInPerson("bea")];
  const organization = await organizationOf(ada);
  const actions: RepoAction[] = ["repo.read", "repo.read_content", "repo.request_access", "repo.write", "repo.manage"];
  for (const owner of [ada.username, organization.name]) {
    const { name } = await someRepo(ada, { owner, isPrivate: true });
    for (const actor of [anonymous, bea.actor]) {
      for (const action of actions) {
        const [hidden, absent] = [name, freshName("tide")].map((of) => async () => {
          await expect(findRepo(actor, { type: "model", owner, name: of }, action)).rejects.toMatchObject({ code: "not_found" });
        }) as [() => Promise<void>, () => Promise<void>];
        const [one, other] = [await countStatements(hidden), await countStatements(absent)];
        expect([owner, actor.kind, action, other.statements]).toEqual([owner, actor.kind, action, one.statements]);
      }
    }
  }
});
