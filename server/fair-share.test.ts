import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { signedInPerson, type TestPerson } from "#core/accounts/testing/people.ts";
import { pktLine } from "#core/hub/git/smart-http/pkt-line.ts";
import type { Repo } from "#core/hub/repos/repo.ts";
import { commitTo, someRepo, unfoldingRepo } from "#core/hub/testing/repos.ts";
import { emptyFolder, git, mustGit, remote, tokenOf, workingCopy } from "../api/testing/git-client.ts";
import { startProcess } from "./testing/start-process.ts";

/** S137: one user's requests, signed in or not, cannot block anybody else. */
let service: Awaited<ReturnType<typeof startProcess>>;
let ada: TestPerson;
let quiet: Repo;
const sockets: Socket[] = [];
beforeAll(async () => {
  service = await startProcess();
  ada = await signedInPerson("ada");
  quiet = await someRepo(ada);
  await commitTo(quiet, ada, { "README.md": "# Tide\n" });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => service.stop());

async function idle(path: string, contentType: string, token: string | undefined, beginning: string | Buffer): Promise<void> {
  const socket = connect(Number(new URL(service.origin).port), "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  const authorization = token ? `Authorization: Basic ${Buffer.from(`x:${token}`).toString("base64")}\r\n` : "";
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${contentType}\r\nContent-Length: 100000\r\n\r\n`,
  );
  socket.write(beginning);
  socket.resume();
}

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

describe("connections that are opened and then idle", () => {
  test("for anonymous fetches do not prevent others from cloning", async () => {
    await times(40, () => idle(`/${quiet.fullName}/git-upload-pack`, "application/x-git-upload-pack-request", undefined, "0"));
    const into = await emptyFolder();
    for (const name of ["one", "two", "three"])
      await mustGit(into, ["clone", "--quiet", remote(service.origin, quiet.fullName), name]);
  }, 60_000);

  test("for pushes of one account do not prevent others from fetching and pushing", async () => {
    const mallory = await signedInPerson("mallory");
    const [hers, token] = [await someRepo(mallory), await tokenOf(mallory)];
    const head = Buffer.concat([
      pktLine(`${"0".repeat(40)} ${"1".repeat(40)} refs/heads/side\0 report-status side-band-64k`),
      Buffer.from("0000PACK"),
    ]);
    await times(40, () => idle(`/${hers.fullName}/git-receive-pack`, "application/x-git-receive-pack-request", token, head));
    await mustGit(await emptyFolder(), ["ls-remote", remote(service.origin, quiet.fullName)]);
    const copy = await workingCopy({ "a.txt": "a" });
    const pushed = await git(copy, ["push", remote(service.origin, quiet.fullName, await tokenOf(ada)), "HEAD:refs/heads/side"]);
    expect(pushed).toMatchObject({ status: 0 });
    await mustGit(copy, ["clone", "--quiet", remote(service.origin, quiet.fullName), "clone"]);
  }, 60_000);
});

test("66 requests for a folder that takes very long do not block other repositories, and are all answered", async () => {
  const hostile = await unfoldingRepo(ada);
  const read = async ({ fullName }: Repo) => {
    const answer = await fetch(`${service.origin}/api/models/${fullName}/tree/main?expand=true`);
    return { status: answer.status, entries: (await answer.json()) as unknown[] };
  };
  let answered = 0;
  const attack = times(66, async () => {
    const { status } = await read(hostile);
    answered++;
    return status;
  });
  await read(quiet);
  expect(await read(quiet)).toMatchObject({ status: 200, entries: [{ path: "README.md" }] });
  expect(answered).toBeLessThan(20);
  const statuses = await attack;
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(30);
  expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
}, 120_000);
