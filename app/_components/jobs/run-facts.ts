import type { JobSpec } from "@keyhook/sdk";
import type { Run } from "#core/jobs/runs/run.ts";
import { commandLine } from "../../_server/jobs/command-line.ts";

/** `42 s`, `3 min 5 s`, `2 h 10 min` */
export function spokenDuration(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1000);
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long a run has gone on, or went; undefined while it waits. */
export function runDuration({ startedAt, finishedAt }: Run, now = new Date()): string | undefined {
  return startedAt ? spokenDuration((finishedAt ?? now).getTime() - startedAt.getTime()) : undefined;
}

/** What it runs, in a line. */
export function commandOf({ command, arguments: given, dockerImage }: JobSpec): string {
  return commandLine([...command, ...given]) || `what ${dockerImage ?? "the image"} starts by itself`;
}

/** Where it runs: the image, or the Space. */
export function placeOf({ dockerImage, spaceId }: JobSpec): string {
  return spaceId ? `Space ${spaceId}` : (dockerImage ?? "");
}

/** Who or what had it run, in words. */
export function initiatedBy({ initiator }: Run): string {
  switch (initiator.type) {
    case "webhook":
      return "a webhook";
    case "scheduled-job":
      return "a schedule";
    case "duplicated-job":
      return "run again";
    default:
      return initiator.name ?? "somebody who is gone";
  }
}
