import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { openRepository } from "#core/hub/git/repository.ts";
import { runGit } from "#core/hub/git/run-git.ts";
import { commitTo } from "#core/hub/testing/repos.ts";
import { type Attack, holdOpen, lanes } from "../attack.ts";

const MIB = 1024 ** 2;
const IDLE = 40;
const BYTE_EVERY_MS = 20_000;

/** Somebody without an account sends fetches whose request never arrives completely (decision 072). */
export const idleUploadPacks: Attack = {
  id: "H6",
  name: `${IDLE} fetches that send a byte in 20 seconds`,
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const { fullName } = await stage.repo(person, { "README.md": "# A\n" });
    const type = { "Content-Type": "application/x-git-upload-pack-request", "Content-Length": "100000" };
    const head = attackers.head("POST", `/${fullName}.git/git-upload-pack`, type);
    const held = { most: 0 };
    return {
      run: (signal) => holdOpen(IDLE, signal, held, () => dripping(attackers.open(head))),
      got: () => [`${held.most} connections held at most`],
    };
  },
};

function dripping(socket: Socket): Socket {
  const timer = setInterval(() => socket.write("0"), BYTE_EVERY_MS);
  socket.once("close", () => clearInterval(timer));
  socket.resume();
  return socket;
}

const LEVELS = 10;
const FOLDERS = 10;

/** Somebody without an account opens a few trees that refer to each other and expand to 10^10 paths. */
export const treeWalks: Attack = {
  id: "M2",
  name: "walks of a tree of 10^10 paths: 40 expanded listings, 12 commit pages, 12 history pages at a time",
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const repo = await stage.repo(person, { "README.md": "# A\n" });
    const directory = await openRepository(repo);
    const write = async (type: string, input: string | Buffer) =>
      (await runGit(directory, ["hash-object", "-w", "-t", type, "--stdin"], { input })).toString().trim();
    let oid = await write("blob", "leaf\n");
    let mode = "100644";
    for (let level = 0; level < LEVELS; level++) {
      const lines = Array.from({ length: FOLDERS }, (_, at) =>
        Buffer.concat([Buffer.from(`${mode} d${at}\0`), Buffer.from(oid, "hex")]),
      );
      oid = await write("tree", Buffer.concat(lines));
      mode = "40000";
    }
    const signature = "Mallory <mallory@example.test> 1790000000 +0000";
    const sha = await write("commit", `tree ${oid}\nauthor ${signature}\ncommitter ${signature}\n\nUnfold\n`);
    await runGit(directory, ["update-ref", "refs/heads/unfold", sha]);
    const page = { headers: { accept: "text/html" } };
    return {
      run: async (signal) => {
        await Promise.all([
          lanes(40, signal, () => attackers.send({ path: `/api/models/${repo.fullName}/tree/unfold?expand=true` })),
          lanes(12, signal, () => attackers.send({ path: `/${repo.fullName}/commit/${sha}`, ...page })),
          lanes(12, signal, () => attackers.send({ path: `/${repo.fullName}/commits/unfold/d0/d1?p=1`, ...page })),
        ]);
      },
    };
  },
};

const DOWNLOADS = 600;

/** Somebody without an account starts downloads and stops reading them. */
export const slowDownloads: Attack = {
  id: "A3",
  name: `${DOWNLOADS} downloads of 8 MiB that nobody reads`,
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const { fullName } = await stage.repo(person, { "large.bin": randomBytes(8 * MIB) });
    const head = attackers.head("GET", `/${fullName}/resolve/main/large.bin`);
    const held = { most: 0 };
    return {
      run: (signal) => holdOpen(DOWNLOADS, signal, held, () => attackers.open(head).pause()),
      got: () => [`${held.most} connections held at most`],
    };
  },
};

const OBJECTS = 40_000;

/** Somebody without an account requests clones for which git compares objects again each time. */
export const costlyClones: Attack = {
  id: "A4",
  name: `clones of ${OBJECTS.toLocaleString("en")} files, 24 at a time`,
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const files: Record<string, Buffer> = {};
    for (let at = 0; at < OBJECTS; at++) files[`d${at % 200}/f${at}`] = Buffer.from(randomBytes(512).toString("base64"));
    const repo = await stage.repo(person, files);
    const sha = await commitTo(repo, person, { "README.md": "# A\n" });
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
    const body = `${line("command=fetch\n")}0001${line(`want ${sha}\n`)}${line("done\n")}0000`;
    const headers = { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" };
    const path = `/${repo.fullName}.git/git-upload-pack`;
    return { run: (signal) => lanes(24, signal, () => attackers.send({ method: "POST", path, headers, body })) };
  },
};
