import type { Runner } from "./runner.ts";

const PROBE_MS = 10_000;

/** Whether a runner works on this machine, tested by running something. @returns why it does not, as a sentence */
export async function probe(runner: Runner): Promise<string | undefined> {
  let said = "";
  const { exited } = await runner.start({
    id: "probe",
    command: ["true"],
    environment: {},
    network: false,
    limits: { memoryBytes: 256 * 1024 ** 2, cpus: 1, processes: 16, scratchBytes: 1024 ** 2, cpuSeconds: 10 },
    onOutput: (_stream, bytes) => {
      said = (said + bytes.toString("utf8")).slice(0, 300);
    },
    onNote: () => undefined,
    signal: AbortSignal.timeout(PROBE_MS),
  });
  const exit = await exited;
  if (exit.kind === "failed") return exit.reason;
  if (exit.kind === "exited" && exit.code === 0) return undefined;
  return `a command that does nothing did not end well there (${said.trim() || exit.kind}).`;
}
