import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Actor, ActorNow } from "../../../access/actor.ts";
import { isServiceError } from "../../../errors.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import { log } from "../../../log.ts";
import type { Hold } from "../../../storage/hold-storage.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { scheduleMaintenance } from "../maintenance/maintenance-table.ts";
import { pushes } from "../queues.ts";
import { changeRefs } from "../refs/change-refs.ts";
import type { Recorded } from "../refs/record-ref-changes.ts";
import type { RefChange } from "../refs/ref-change.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { openRepository } from "../repository.ts";
import { type Arrival, HookChannel } from "./hook-channel.ts";
import { judgeArrival, type Verdict } from "./judge-arrival.ts";
import { holdArriving, judgeRoom, judgeUnread, pushInputMax } from "./judge-room.ts";
import { FLUSH, pktLine } from "./pkt-line.ts";
import { pushMessages } from "./push-messages.ts";
import { type Command, type PushHead, readCommands } from "./read-commands.ts";
import { judgeState, refuseByRight, refuseCommands } from "./refuse-commands.ts";
import { answerPush, ReceivedOutput, type Report } from "./report.ts";
import {
  answerHead,
  feed,
  requireTransferHead,
  TOO_SLOW,
  type TransferBody,
  type TransferRequest,
  tooLarge,
  tooSlow,
  transferBody,
} from "./transfer-request.ts";
import { fileMaxBytes, pushMaxBytes, pushSettings } from "./transfer-settings.ts";
import { type Transfer, withTransfer } from "./with-transfer.ts";

/** The outcome of a push, and the messages for its sender. */
type Outcome = { report: Report; recorded?: Recorded | undefined; messages: string[] };

const ABSENT = "0".repeat(40);

const HEAD_GRACE_MS = 60_000;
/** How long a push may send nothing at all: git may have to compress a large file in the middle of a pack. */
const PUSH_GRACE_MS = 120_000;
/** The same while others wait for its slot. */
const PUSH_WANTED_GRACE_MS = 60_000;
/** By then a client that still listens has received the response. */
const HEARD_AFTER_MS = 2_000;

/** How much of git's output a client may leave unread. Git warns about every odd tree in a pack, and a pack may contain millions. */
const UNREAD_MAX_BYTES = 256 * 1024;

/** The client's capabilities that are passed on to git; this service handles the others itself. */
const PASSED_ON = /^(atomic|quiet|push-options|object-format=sha1)$/;

/**
 * Answers `POST …/git-receive-pack`: a push. Its commands are read and checked here first; git gets the rest. When the pack has arrived,
 * git's hook asks to go on, and from then on it is a change of refs like any other (change-refs.ts). Git's report is held back until that
 * is recorded, so that a client which was told that a push is done finds its event.
 *
 * @param actorNow is called again when all has arrived, which takes as long as its sender likes (S114, S135)
 * @param pushedAs the `owner/name` that the client used
 * @param pace overrides the usual one, for tests
 * @throws ServiceError `invalid_request`, `payload_too_large`, `unavailable` before anything has happened
 */
export async function receivePack(
  actorNow: ActorNow,
  repo: Repo,
  pushedAs: string,
  { req, res }: TransferRequest,
  pace: Partial<Watched> = {},
): Promise<void> {
  const actor = await actorNow();
  const path = await openRepository(repo);
  requireTransferHead(req, "receive-pack", pushMaxBytes());
  const body = transferBody(req, req, pushMaxBytes());
  const head = await readHead({ req, res }, body, pace);
  const begin = () => {
    if (!res.headersSent) answerHead(res, "application/x-git-receive-pack-result");
  };
  // Before it sends much, a client asks with an empty request whether it may push.
  if (head.commands.length > 0) {
    const refused = await refuseCommands(actor, repo, path, head.commands);
    const isAllRefused = head.capabilities.has("atomic") && refused.size > 0;
    const commands = isAllRefused ? [] : head.commands.filter((command) => !refused.has(command));
    const outcome =
      commands.length > 0
        ? await push({ actor, actorNow, repo, path, head, body, commands, begin, req, res, pace })
        : await dropPack(body.stream);
    const refs = new Map(
      head.commands.map((command) => [
        command.rawRef,
        refused.get(command) ?? (isAllRefused ? "refused together with another ref" : reasonOf(repo, command, outcome.report)),
      ]),
    );
    const messages = outcome.recorded ? await pushMessages(outcome.recorded, pushedAs) : [];
    begin();
    res.write(answerPush(head.capabilities, { unpack: outcome.report.unpack, refs }, [...outcome.messages, ...messages]));
  }
  begin();
  res.end();
}

/** The head of a push has no slot, and uses memory while it arrives: so it must arrive at a pace too. */
async function readHead({ req, res }: TransferRequest, { stream }: TransferBody, pace: Partial<Watched>): Promise<PushHead> {
  let stopWatching = () => {};
  const slow = new Promise<never>((_, reject) => {
    const watched = { bytes: () => req.socket.bytesRead, isWaiting: () => !req.complete, graceMs: HEAD_GRACE_MS };
    stopWatching = watchPace({ ...watched, ...pace, onTooSlow: () => reject(tooSlow()) });
  });
  try {
    return await Promise.race([readCommands(stream), slow]);
  } catch (error) {
    // The rest of the request is not awaited.
    if (!res.headersSent) res.setHeader("Connection", "close");
    throw error;
  } finally {
    stopWatching();
  }
}

/** Reads and drops the pack: a client that cannot send it does not read the response. */
async function dropPack(body: Readable): Promise<Outcome> {
  body.resume();
  await finished(body, { writable: false }).catch(() => undefined);
  return { report: { unpack: "ok", refs: new Map() }, messages: [] };
}

type Push = {
  actor: Actor;
  actorNow: ActorNow;
  repo: Repo;
  path: string;
  head: PushHead;
  body: TransferBody;
  commands: readonly Command[];
  /** Sends the headers of the response, once it is known that there will be one. */
  begin: () => void;
  req: IncomingMessage;
  res: ServerResponse;
  /** Overrides the usual one, for tests. */
  pace: Partial<Watched>;
};

async function push({ actor, actorNow, repo, path, head, body, commands, begin, req, res, pace }: Push): Promise<Outcome> {
  const outcome: Outcome = { report: { unpack: "the push ended early", refs: new Map() }, messages: [] };
  const protectedRef = commands.find(({ ref }) => isProtectedRef(repo, ref))?.ref;
  const inputMax = await pushInputMax(actor, repo);
  const options = {
    isLimited: true,
    // The checks of a small pack may take minutes, and continue when its sender has left: they must not starve walks and fetches.
    niceness: 10,
    hasChannel: true,
    config: pushSettings(protectedRef ? "forward" : "plain", inputMax),
    env: { KEYHOOK_FILE_MAX_BYTES: String(fileMaxBytes()), ...(protectedRef && { KEYHOOK_PROTECTED_REF: protectedRef }) },
  };
  await scheduleMaintenance(repo.id);
  await withTransfer(
    pushes,
    path,
    ["receive-pack", "--stateless-rpc", "--", path],
    options,
    async ({ child, closed, yields }) => {
      begin();
      const output = new ReceivedOutput((packet) => {
        const isHeard = head.capabilities.has("side-band-64k") && !res.closed && res.writableLength < UNREAD_MAX_BYTES;
        if (isHeard) res.write(packet);
      });
      child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
      const channel = new HookChannel(child);
      child.stdin.write(requestOf(head, commands));
      child.stdin.write(head.rest);
      // If the client disconnects before all has arrived, the push ends. After that it is completed, whether or not anybody listens.
      feed(body.stream, child.stdin);
      const isSlow = endWhenSlow({ req, res, child, closed, yields, pace });
      const stopHolding = holdArriving(actor, repo, body.receivedBytes, () => child.stdin.destroy());
      const arrival = await channel.arrival;
      const full = await stopHolding();
      const room = arrival
        ? await judge(actorNow, repo, path, arrival, { commands, isAtomic: head.capabilities.has("atomic") })
        : {};
      const isCutShort = !arrival && (full !== undefined || (inputMax < pushMaxBytes() && body.receivedBytes() > inputMax));
      // Git has given up on it; a client that cannot send the rest does not read the response.
      if (isCutShort) await finished(body.stream, { writable: false }).catch(() => undefined);
      const verdict = room.verdict ?? full ?? (isCutShort ? await judgeUnread(actor, repo, body.receivedBytes()) : undefined);
      if (verdict) outcome.messages.push(...verdict.messages);
      if (arrival && !verdict) {
        let hasGone = false;
        const perform = async () => {
          hasGone = true;
          channel.answer("go");
          await closed;
          return changedBy(output, commands);
        };
        try {
          outcome.recorded = await changeRefs(repo, actor, commands.map(asChange), perform);
        } catch (error) {
          log().error({ err: error, repo: repo.id, hasGone }, "a push could not be recorded");
          outcome.messages.push(hasGone ? "What this push has changed will be recorded in a moment." : "Try again in a moment.");
        }
        if (!hasGone) channel.answer("stop");
      } else channel.answer("stop");
      await closed;
      channel.close();
      await room.hold?.release();
      const report = output.report();
      if (report) outcome.report = report;
      if (verdict)
        outcome.report.refs = new Map(commands.map((each) => [each.rawRef, verdict.reasons?.get(each) ?? verdict.reason]));
      if (isSlow()) outcome.messages.push(TOO_SLOW);
      if (body.isCut()) outcome.messages.push(tooLarge(pushMaxBytes()));
      if (!arrival && report) outcome.recorded = await recordUnasked(actor, repo, changedBy(output, commands));
    },
  );
  return outcome;
}

/**
 * A push has its slot while its pack arrives, since it is too large to be buffered elsewhere: so it must arrive at a pace (pace.ts). A push
 * that does not is ended as if the client had disconnected, and its client is told why.
 * @returns whether that happened
 */
function endWhenSlow({
  req,
  res,
  child,
  closed,
  yields,
  pace,
}: Pick<Push, "req" | "res" | "pace"> & Pick<Transfer, "child" | "closed" | "yields">): () => boolean {
  let isSlow = false;
  const stop = watchPace({
    bytes: () => req.socket.bytesRead,
    isWaiting: () => !req.complete && !child.stdin.destroyed && !child.stdin.writableNeedDrain,
    graceMs: PUSH_GRACE_MS,
    wantedGraceMs: PUSH_WANTED_GRACE_MS,
    yields,
    onTooSlow: () => {
      isSlow = true;
      child.stdin.destroy();
      // The rest of it would arrive as slowly.
      res.once("finish", () => setTimeout(() => req.destroy(), HEARD_AFTER_MS).unref());
    },
    ...pace,
  });
  void closed.then(stop);
  return () => isSlow;
}

type Asked = { commands: readonly Command[]; isAtomic: boolean };

/** Whether a push that has arrived may go on; if so, storage is reserved for it. Git waits for the answer, so a failure refuses it too. */
async function judge(
  actorNow: ActorNow,
  repo: Repo,
  path: string,
  arrival: Arrival,
  asked: Asked,
): Promise<{ verdict?: Verdict; hold?: Hold }> {
  try {
    const actor = await actorNow();
    const refused =
      (await judgeRight(actor, repo, asked.commands)) ??
      (await judgeArrival({ path, repoId: repo.id }, arrival, asked.commands)) ??
      (arrival.quarantine === undefined ? undefined : await judgeState(repo, path, arrival.quarantine, asked));
    return refused ? { verdict: refused } : await judgeRoom(actor, repo, { path, quarantine: arrival.quarantine });
  } catch (error) {
    if (isServiceError(error) && error.code === "unauthorized")
      return { verdict: { reason: "the token that this push came with is no longer valid", messages: [] } };
    if (!isServiceError(error)) log().error({ err: error, repo: repo.id }, "a push could not be judged");
    const sentence = isServiceError(error) ? error.message : "Something went wrong on our side. Try again in a moment.";
    return { verdict: { reason: "it could not be checked", messages: [sentence] } };
  }
}

/** Refuses actors who have lost the right to push, or whose repository was deleted, while the push was under way (S135). */
async function judgeRight(actor: Actor, { id }: Repo, commands: readonly Command[]): Promise<Verdict | undefined> {
  const repo = await readRepo(id);
  if (!repo) return { reason: "this repository is no more", messages: [] };
  const [reason] = (await refuseByRight(actor, repo, commands)).values();
  return reason === undefined ? undefined : { reason, messages: [] };
}

/** Records refs that changed although the hook never asked, for example because it cannot be run. */
async function recordUnasked(actor: Actor, repo: Repo, changed: RefChange[]): Promise<Recorded | undefined> {
  if (changed.length === 0) return undefined;
  log().error({ repo: repo.id }, "git ran no hook: limits inside of packs do not hold, and what a killed push did is not found");
  return changeRefs(repo, actor, changed, async () => changed);
}

/** The commands of a push that git is to perform; the pack follows. */
function requestOf({ capabilities, shallow, pushOptions }: PushHead, commands: readonly Command[]): Buffer {
  const asked = ["report-status", "side-band-64k", ...[...capabilities].filter((each) => PASSED_ON.test(each))].join(" ");
  const lines = commands.map(({ oldSha, newSha, rawRef }, index) =>
    Buffer.from(`${oldSha ?? ABSENT} ${newSha ?? ABSENT} ${rawRef}${index === 0 ? `\0 ${asked}` : ""}`, "latin1"),
  );
  const options = capabilities.has("push-options")
    ? [...pushOptions.map((each) => pktLine(Buffer.from(each, "latin1"))), FLUSH]
    : [];
  return Buffer.concat([...shallow.map((line) => pktLine(line)), ...lines.map(pktLine), FLUSH, ...options]);
}

/** The changes that git reports. @throws Error when git ended without a report, so that reconciling has to find out */
function changedBy(output: ReceivedOutput, commands: readonly Command[]): RefChange[] {
  const report = output.report();
  if (!report) throw new Error("git ended without a report");
  const done = commands.filter(({ rawRef, oldSha, newSha }) => report.refs.get(rawRef) === null && oldSha !== newSha);
  const deletions = done.filter(({ newSha }) => newSha === null);
  const isGoneAlready = deletions.length > 0 && output.goneAlready >= deletions.length;
  return done.filter(({ newSha }) => newSha !== null || !isGoneAlready).map(asChange);
}

const asChange = ({ ref, oldSha, newSha }: Command): RefChange => ({ ref, oldSha, newSha });

/** Null when it was done; a change that git did not report as done was not done. */
function reasonOf(repo: Repo, { ref, rawRef }: Command, { unpack, refs }: Report): string | null {
  const reason = refs.get(rawRef);
  if (reason === null) return null;
  if (reason === "hook declined" && isProtectedRef(repo, ref)) return `${repo.defaultBranch} is protected: it cannot be forced`;
  return reason ?? (unpack === "ok" ? "not done" : "the push was not taken");
}
