import { repoPath } from "@keyhook/sdk";
import { env } from "../../../env.ts";
import { webhooksTriggered } from "../../../webhooks/watchers.ts";
import { numOfPullRequestRef } from "../../discussions/discussion.ts";
import { type Repo, repoWebUrl } from "../../repos/repo.ts";
import type { Recorded } from "../refs/record-ref-changes.ts";
import type { RefChange } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { bandPackets, FLUSH, PktReader, pktLine } from "./pkt-line.ts";
import type { Command } from "./read-commands.ts";

export type Report = {
  unpack: string;
  /** By the refs' bytes as `latin1`: the reason of a refusal, or null for a changed ref. */
  refs: Map<string, string | null>;
};

const REPORT_MAX_BYTES = 16 * 1024 * 1024;

/** With this warning, git reports the deletion of a missing ref as done. */
const ALREADY_DELETED = /^.?warning: Deleting a non-existent ref$/gm;

export class ReceivedOutput {
  readonly #packets = new PktReader();
  readonly #report: Buffer[] = [];
  #reportBytes = 0;
  readonly #forward: (packet: Buffer) => void;
  #alreadyDeleted = 0;

  /** @param forward gets progress, and the empty packets that keep the connection alive */
  constructor(forward: (packet: Buffer) => void) {
    this.#forward = forward;
  }

  push(chunk: Buffer): void {
    for (const packet of this.#packets.push(chunk)) {
      if (!packet || packet.length === 0) continue;
      if (packet[0] === 1 && packet.length > 1) this.#keep(packet.subarray(1));
      else {
        this.#alreadyDeleted += packet.toString("latin1").match(ALREADY_DELETED)?.length ?? 0;
        this.#forward(pktLine(packet));
      }
    }
  }

  /**
   * Earlier warnings may quote pushed text, such as `badTagName: invalid 'tag' name: warning: …`, so they do not count (S137).
   */
  refChangesBegin(): void {
    this.#alreadyDeleted = 0;
  }

  get alreadyDeleted(): number {
    return this.#alreadyDeleted;
  }

  #keep(bytes: Buffer): void {
    this.#reportBytes += bytes.length;
    if (this.#reportBytes <= REPORT_MAX_BYTES) this.#report.push(Buffer.from(bytes));
  }

  report(): Report | undefined {
    const report: Report = { unpack: "", refs: new Map() };
    for (const line of new PktReader().push(Buffer.concat(this.#report))) {
      const text = line?.toString("latin1").replace(/\n$/, "") ?? "";
      const [, word, rest = ""] = /^(unpack|ok|ng) ([\s\S]*)$/.exec(text) ?? [];
      if (word === "unpack") report.unpack = rest;
      else if (word === "ok") report.refs.set(rest, null);
      else if (word === "ng") {
        const space = rest.indexOf(" ");
        report.refs.set(rest.slice(0, space), rest.slice(space + 1));
      }
    }
    return report.unpack === "" ? undefined : report;
  }
}

export function answerPush(capabilities: ReadonlySet<string>, report: Report, messages: readonly string[]): Buffer {
  const hasBands = capabilities.has("side-band-64k");
  const isReported = capabilities.has("report-status") || capabilities.has("report-status-v2");
  const printed =
    hasBands && messages.length > 0
      ? bandPackets(2, Buffer.from(messages.map((line) => `${line}\n`).join("")))
      : FLUSH.subarray(0, 0);
  if (!isReported) return Buffer.concat([printed, ...(hasBands ? [FLUSH] : [])]);
  const lines = [
    pktLine(`unpack ${report.unpack}\n`),
    ...[...report.refs].map(([ref, reason]) =>
      pktLine(Buffer.from(reason === null ? `ok ${ref}\n` : `ng ${ref} ${headline(reason)}\n`, "latin1")),
    ),
    FLUSH,
  ];
  const body = Buffer.concat(lines);
  return hasBands ? Buffer.concat([printed, bandPackets(1, body), FLUSH]) : body;
}

const headline = (reason: string): string => Buffer.from(reason.replace(/[\0\r\n]+/g, " ").slice(0, 500)).toString("latin1");

const BRANCHES_MAX = 3;

export async function pushMessages({ repo, changed }: Recorded, pushedAs: string): Promise<string[]> {
  const lines: string[] = [];
  const web = repoWebUrl(repo);
  if (pushedAs.toLowerCase() !== repo.fullName.toLowerCase()) {
    lines.push("This repository has moved. Its URL is now:", `  ${env().ORIGIN}${repoPath(repo.type, repo.fullName)}`);
  }
  const most = lines.length + BRANCHES_MAX * 2;
  for (const { ref, oldSha, newSha } of changed.slice(0, 100)) {
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    const num = numOfPullRequestRef(ref);
    if (lines.length >= most) break;
    if (num !== undefined) lines.push(`Pull request ${num}:`, `  ${web}/discussions/${num}`);
    else if (branch === undefined || newSha === null) continue;
    else if (branch === repo.defaultBranch || !repo.hasDiscussions || oldSha !== null)
      lines.push(`${branch}:`, `  ${web}/commit/${newSha}`);
    else
      lines.push(
        `Open a pull request for ${branch}:`,
        `  ${web}/discussions/new?kind=pull-request&head=${encodeURIComponent(branch)}`,
      );
  }
  const triggered = await webhooksTriggered(repo);
  if (triggered) lines.push(`${triggered}: ${web}#webhooks`);
  return lines.length > 0 ? ["", ...lines, ""] : [];
}

/** @throws Error if git ended without a report */
export function changedBy(output: ReceivedOutput, commands: readonly Command[]): RefChange[] {
  const report = output.report();
  if (!report) throw new Error("git ended without a report");
  const done = commands.filter(({ rawRef, oldSha, newSha }) => report.refs.get(rawRef) === null && oldSha !== newSha);
  const deletions = done.filter(({ newSha }) => newSha === null);
  const isAlreadyDeleted = deletions.length > 0 && output.alreadyDeleted >= deletions.length;
  return done.filter(({ newSha }) => newSha !== null || !isAlreadyDeleted).map(asChange);
}

export const asChange = ({ ref, oldSha, newSha }: Command): RefChange => ({ ref, oldSha, newSha });

export function reasonOf(repo: Repo, { ref, rawRef }: Command, { unpack, refs }: Report): string | null {
  const reason = refs.get(rawRef);
  if (reason === null) return null;
  if (reason === "hook declined" && isProtectedRef(repo, ref))
    return `${repo.defaultBranch} is protected: its history cannot be rewritten`;
  return reason ?? (unpack === "ok" ? "not done" : "the push was not accepted");
}
