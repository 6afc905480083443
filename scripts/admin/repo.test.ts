import { expect, test } from "vitest";
import { freshName, signedInPerson } from "#core/accounts/testing/people.ts";
import { someRepo } from "#core/hub/testing/repos.ts";
import { adminLine as admin } from "./testing/admin-line.ts";

test("a repository is listed, moved and deleted", async () => {
  const ada = await signedInPerson();
  const { id, fullName } = await someRepo(ada, { type: "dataset", isPrivate: true });
  const to = `${ada.username}/${freshName("moon")}`;
  expect(await admin("repo", "list", "--owner", ada.username)).toMatchObject({
    json: { repos: [{ id, type: "dataset", name: fullName, private: true }], has_more: false },
  });
  expect(await admin("repo", "move", "--type", "dataset", "--name", fullName, "--to", to)).toMatchObject({
    json: { id, name: to },
  });
  expect(await admin("repo", "move", "--name", "nothing", "--to", to)).toMatchObject({ exitCode: 2 });
  expect(await admin("repo", "delete", "--type", "dataset", "--name", to, "--confirm", fullName)).toMatchObject({ exitCode: 2 });
  expect(await admin("repo", "delete", "--name", to, "--confirm", to)).toMatchObject({ json: { code: "not_found" } });
  expect(await admin("repo", "delete", "--type", "dataset", "--name", to, "--confirm", to)).toMatchObject({
    json: { deleted: to },
  });
  expect(await admin("repo", "list", "--owner", ada.username)).toMatchObject({ text: "None." });
});
