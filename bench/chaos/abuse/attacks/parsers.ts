import { type Attack, lanes } from "../attack.ts";

const KIB = 1024;

/** Needs no account. The parser looks back further with each flow collection without a separator. */
export const yaml: Attack = {
  id: "H3",
  name: "64 KiB of YAML to /api/validate-yaml, 6 at a time",
  async prepare(_stage, attackers) {
    const content = `---\n${"[a]".repeat(21 * KIB - 10)}\n---\n`;
    const body = JSON.stringify({ content, repoType: "model" });
    const headers = { "content-type": "application/json" };
    return {
      run: (signal) => lanes(6, signal, () => attackers.send({ method: "POST", path: "/api/validate-yaml", headers, body })),
    };
  },
};

const FOLDERS = 40;

/** A cache by path would treat the same text in many folders as different texts. */
export const readmes: Attack = {
  id: "M3",
  name: `one hostile README in ${FOLDERS} folders, 8 pages at a time`,
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const text = "*a_".repeat(20_000);
    const files = Object.fromEntries(Array.from({ length: FOLDERS }, (_, at) => [`folder-${at}/README.md`, text]));
    const { fullName } = await stage.repo(person, files);
    const headers = { accept: "text/html" };
    return {
      run: (signal) =>
        lanes(8, signal, (turn) => attackers.send({ path: `/${fullName}/tree/main/folder-${turn % FOLDERS}`, headers })),
    };
  },
};

/** Needs no account. The service must check the token before it makes an issue of each invalid value (decision 079). */
export const wrongElements: Attack = {
  id: "A1",
  name: "lists of wrong elements to /api/repos/create (4 MiB) and the LFS batch API (1 MiB), 2 at a time",
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const { fullName } = await stage.repo(person, { "README.md": "# A\n" });
    const elements = (mib: number) => `${"0,".repeat((mib * KIB * KIB) / 2 - 100)}0`;
    const requests = [
      {
        path: "/api/repos/create",
        headers: { "content-type": "application/json" },
        body: Buffer.from(`{"name":"a","files":[${elements(4)}]}`),
      },
      {
        path: `/${fullName}.git/info/lfs/objects/batch`,
        headers: { "content-type": "application/vnd.git-lfs+json" },
        body: Buffer.from(`{"operation":"download","objects":[${elements(1)}]}`),
      },
    ];
    return {
      run: (signal) =>
        lanes(2, signal, async (turn) => {
          const request = requests[turn % requests.length];
          if (request) await attackers.send({ method: "POST", ...request });
        }),
    };
  },
};
