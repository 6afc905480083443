import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { organizationOf, signedInPerson } from "../../accounts/testing/people.ts";
import { commitTo, someRepo } from "../../hub/testing/repos.ts";
import { takeSpaceFiles } from "./take-space-files.ts";

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-files-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it("S136 a job gets the files of a Space that its owner may read, and no other's", async () => {
  const [ada, bob, eve] = await Promise.all([signedInPerson("ada"), signedInPerson("bob"), signedInPerson("eve")]);
  const organization = await organizationOf(ada, [[bob, "read"]]);
  const own = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker" });
  const shared = await someRepo(ada, { type: "space", isPrivate: true, sdk: "docker", owner: organization.name });
  const open = await someRepo(ada, { type: "space", sdk: "docker" });
  for (const repo of [own, shared, open]) await commitTo(repo, ada, { "app.py": repo.fullName, "deep/er/data.txt": "1" });

  const person = ({ id }: { id: string }) => ({ kind: "user", id }) as const;
  const org = { kind: "organization", id: organization.id } as const;
  const allowed = [
    [own, person(ada)],
    [shared, person(bob)],
    [shared, org],
    [open, person(eve)],
    [open, org],
  ] as const;
  for (const [repo, owner] of allowed) {
    const directory = emptyDirectory();
    await takeSpaceFiles(repo.fullName, owner, directory, () => undefined);
    expect(readFileSync(join(directory, "app.py"), "utf8")).toBe(repo.fullName);
    expect(readFileSync(join(directory, "deep/er/data.txt"), "utf8")).toBe("1");
  }
  const refused = [
    [own.fullName, person(bob)],
    [own.fullName, org],
    [shared.fullName, person(eve)],
    [`${ada.username}/nothing`, person(ada)],
    ["nobody/nothing", person(ada)],
  ] as const;
  for (const [name, owner] of refused) {
    const directory = emptyDirectory();
    await expect(takeSpaceFiles(name, owner, directory, () => undefined)).rejects.toMatchObject({
      code: "not_found",
      message: `The Space ${name} is not there, or whoever the job belongs to may not read it.`,
    });
    expect(readdirSync(directory)).toEqual([]);
  }
  const empty = await someRepo(ada, { type: "space", sdk: "docker" });
  await expect(takeSpaceFiles(empty.fullName, person(ada), emptyDirectory(), () => undefined)).rejects.toMatchObject({
    code: "invalid_request",
  });
});
