import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { TokenHolder } from "../../access/actor.ts";
import { organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { commitTo, someRepo } from "../../hub/testing/repos.ts";
import { takeSpaceFiles } from "./lay-out-files.ts";

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const how = (signal = new AbortController().signal) => ({ note: () => undefined, signal });

const tokenOf = ({ id }: { id: string }, ...scopes: TokenHolder["scopes"]): TokenHolder => ({
  kind: "token",
  ...{ tokenId: "a token", userId: id, scopes, orgIds: "all", clientId: null },
});

it("S136 a job gets the files of a Space only if both its owner and its starter may read them", async () => {
  const [ada, bob, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("bob"), signedInPerson("eve")]);
  const organization = await organizationOf(ada, [[bob, "read"]]);
  const own = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker" });
  const shared = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker", owner: organization.name });
  const open = await someRepo(ada, { type: "space", sdk: "docker" });
  for (const repo of [own, shared, open]) await commitTo(repo, ada, { "app.py": repo.fullName, "deep/er/data.txt": "1" });

  const person = ({ id }: { id: string }) => ({ kind: "user", id }) as const;
  const org = { kind: "organization", id: organization.id } as const;
  const allowed = [
    [own, person(ada), ada.actor],
    [shared, person(bob), bob.actor],
    [shared, org, bob.actor],
    [open, person(eve), eve.actor],
    [open, org, ada.actor],
    [own, person(ada), tokenOf(ada, "jobs", "read-repos")],
  ] as const;
  for (const [repo, owner, delegate] of allowed) {
    const directory = emptyDirectory();
    await takeSpaceFiles(repo.fullName, { owner, delegate }, directory, how());
    expect(readFileSync(join(directory, "app.py"), "utf8")).toBe(repo.fullName);
    expect(readFileSync(join(directory, "deep/er/data.txt"), "utf8")).toBe("1");
  }
  const refused = [
    [own.fullName, person(bob), bob.actor],
    [own.fullName, org, ada.actor],
    [shared.fullName, person(eve), eve.actor],
    [shared.fullName, org, eve.actor],
    [shared.fullName, org, undefined],
    // The token lacks the scope `read-repos`.
    [own.fullName, person(ada), tokenOf(ada, "jobs")],
    [`${ada.username}/nothing`, person(ada), ada.actor],
    ["nobody/nothing", person(ada), ada.actor],
  ] as const;
  for (const [name, owner, delegate] of refused) {
    const directory = emptyDirectory();
    await expect(takeSpaceFiles(name, { owner, delegate }, directory, how())).rejects.toMatchObject({
      code: "not_found",
      message: `The Space ${name} does not exist, or the job's owner or whoever started the job cannot read it. Check the name, and that both have access.`,
    });
    expect(readdirSync(directory)).toEqual([]);
  }
  const empty = await someRepo(ada, { type: "space", sdk: "docker" });
  await expect(
    takeSpaceFiles(empty.fullName, { owner: person(ada), delegate: ada.actor }, emptyDirectory(), how()),
  ).rejects.toMatchObject({
    code: "invalid_request",
  });
});

it("taking a Space's files ends when the files are no longer needed", async () => {
  const ada = await signedInPerson();
  const space = await someRepo(ada, { type: "space", sdk: "docker" });
  await commitTo(space, ada, { "app.py": "1" });
  const directory = emptyDirectory();
  const of = { owner: { kind: "user", id: ada.id }, delegate: ada.actor } as const;
  const left = takeSpaceFiles(space.fullName, of, directory, how(AbortSignal.abort("left")));
  await expect(left).rejects.toBe("left");
  expect(readdirSync(directory)).toEqual([]);
});
