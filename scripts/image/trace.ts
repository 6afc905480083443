import { globSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { nodeFileTrace } from "@vercel/nft";

/** Some files are started by their path, so no import leads to them. */
const SOURCES = ["supervisor.ts", "server.ts", "{api,core,scripts/admin,server,worker}/**/*.ts", "scripts/admin.ts"];
const isOfTests = (path: string) => /\.test\.ts$|(^|\/)testing\//.test(path);

/** Returns paths relative to the root. A file that a package opens by a computed name may be missing. */
export async function traceFiles(root: string): Promise<string[]> {
  const [own, next] = await Promise.all([traceSources(root), readTracesOfNext(root)]);
  return [...new Set([...own, ...next.filter((path) => path.startsWith("node_modules/"))])];
}

async function traceSources(root: string): Promise<string[]> {
  const { fileList } = await nodeFileTrace(
    SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).filter((path) => !isOfTests(path)),
    {
      base: root,
      processCwd: root,
      conditions: ["node", "import"],
      // Next's own trace contains the files of its server that run in production.
      ignore: ["compiled/next-server", "docs", "server/dev"].map((folder) => `node_modules/next/dist/${folder}/**`),
      // Opens one file at a time: if the system allows few open files, some files of a large package would seem to be missing.
      readFile: async (path) => {
        if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
        const content = readFileSync(path);
        return path.endsWith(".ts") && !path.includes("/node_modules/") ? stripTypeScriptTypes(content.toString()) : content;
      },
    },
  );
  return [...fileList];
}

async function readTracesOfNext(root: string): Promise<string[]> {
  const traces = globSync(".next/**/*.nft.json", { cwd: root });
  if (!traces.includes(".next/next-server.js.nft.json"))
    throw new Error("The pages are not built: .next has no trace of the server");
  const files = await Promise.all(
    traces.map(async (trace) => {
      const { files } = JSON.parse(await readFile(join(root, trace), "utf8")) as { files: string[] };
      return files.map((file) => relative(root, join(root, dirname(trace), file)));
    }),
  );
  return files.flat();
}
