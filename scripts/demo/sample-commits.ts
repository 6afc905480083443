import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { childEnvironment } from "#core/env.ts";
import { operator, people } from "./samples.ts";

export type SampleCommit = { at: Date; by: string; title: string; files: Record<string, string> };

const DAY_MS = 86_400_000;
const READING_EVERY_MS = DAY_MS / 6;
export const HISTORY_DAYS = 29;

export function gaugeCommits(now = new Date()): SampleCommit[] {
  const from = now.getTime() - HISTORY_DAYS * DAY_MS;
  const last = now.getTime() - READING_EVERY_MS;
  const times = Array.from(
    { length: Math.floor((last - from) / READING_EVERY_MS) + 1 },
    (_, nth) => from + nth * READING_EVERY_MS,
  );
  return times.map((time) => ({
    at: new Date(time),
    by: "aiko",
    title: `Add the readings up to ${new Date(time).toISOString().slice(0, 16).replace("T", " ")}`,
    files: { "readings.csv": readingsUntil(time) },
  }));
}

/** Returns the height of the tide at Cuxhaven once an hour, computed from the semidiurnal tide. */
export function readingsUntil(time: number, hours = 24): string {
  const hour = Math.floor(time / 3_600_000);
  const rows = Array.from({ length: hours }, (_, nth) => {
    const at = hour - hours + 1 + nth;
    const height = Math.round(180 + 150 * Math.cos((2 * Math.PI * at) / 12.42));
    return `Cuxhaven,${new Date(at * 3_600_000).toISOString()},${height}`;
  });
  return `${["gauge,time,height_cm", ...rows].join("\n")}\n`;
}

export function commitsOn(
  days: readonly number[],
  { by, titles, files }: { by: string; titles: readonly string[]; files: Record<string, string> },
  now = Date.now(),
): SampleCommit[] {
  return days.map((day, nth) => {
    const title = titles[nth] ?? "Update";
    const at = new Date(now - day * DAY_MS);
    return { at, by, title, files: nth === 0 ? files : { "CHANGES.md": changesUntil(titles.slice(1, nth + 1)) } };
  });
}

const changesUntil = (titles: readonly string[]): string => `# Changes\n\n${titles.map((title) => `- ${title}`).join("\n")}\n`;

export async function pushCommits(
  { url, token }: { url: string; token: string },
  commits: readonly SampleCommit[],
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "keyhook-demo-"));
  try {
    await git(directory, ["init", "--quiet", "--bare", "--initial-branch=main"]);
    await git(directory, ["fast-import", "--quiet"], commits.map(importCommand).join(""));
    await git(directory, ["push", "--quiet", url, "main"], "", authorization(token));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function importCommand({ at, by, title, files }: SampleCommit): string {
  const person = [...people, operator].find(({ username }) => username === by) ?? operator;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`);
  const seconds = Math.floor(at.getTime() / 1_000);
  return `commit refs/heads/main\ncommitter ${person.fullName} <${person.email}> ${seconds} +0000\n${data(title)}${changes.join("")}\n`;
}

/** Others on this machine can read a process's arguments, but not its environment. */
function authorization(token: string): Record<string, string> {
  const header = `Authorization: Basic ${Buffer.from(`git:${token}`).toString("base64")}`;
  return { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.extraHeader", GIT_CONFIG_VALUE_0: header };
}

async function git(directory: string, args: string[], input = "", more: Record<string, string> = {}): Promise<void> {
  // Git ignores the settings and the credentials of the user who runs the demo.
  const own = { GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const env = childEnvironment({ ...own, ...more });
  const child = spawn("git", ["-c", "credential.helper=", ...args], { cwd: directory, env, stdio: ["pipe", "ignore", "pipe"] });
  const printed: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => printed.push(chunk));
  if (input === "") child.stdin.destroy();
  else child.stdin.end(input);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`git ${args[0]} failed: ${Buffer.concat(printed).toString().trim()}`);
}
