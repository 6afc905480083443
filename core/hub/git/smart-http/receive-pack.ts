import type { IncomingMessage, ServerResponse } from "node:http";
import type { Actor, ActorNow } from "../../../access/actor.ts";
import { isServiceError } from "../../../errors.ts";
import { type Watched, watchPace } from "../../../http/pace.ts";
import { log } from "../../../log.ts";
import type { Hold } from "../../../storage/hold-storage.ts";
import { readRepo } from "../../repos/read-repos.ts";
import type { Repo } from "../../repos/repo.ts";
import { scheduleMaintenance } from "../maintenance/maintain-repository.ts";
import { pushes } from "../queues.ts";
import { changeRefs } from "../refs/change-refs.ts";
import type { Recorded } from "../refs/record-ref-changes.ts";
import type { RefChange } from "../refs/ref-name.ts";
import { isProtectedRef } from "../refs/require-changeable.ts";
import { openRepository } from "../repository.ts";
import { checkArrival, type Refusal } from "./check-arrival.ts";
import { type Arrival, HookChannel } from "./hook-channel.ts";
import { checkReceivedSize, checkStorage, holdArriving, pushInputMax } from "./push-storage.ts";
import { type Command, type PushHead, readCommands, requestOf } from "./read-commands.ts";
import { addedRefs, checkRefs, refuseByRight, refuseCommands } from "./refuse-commands.ts";
import { answerPush, asChange, changedBy, pushMessages, ReceivedOutput, type Report, reasonOf } from "./report.ts";
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

type Outcome = { report: Report; recorded?: Recorded | undefined; messages: string[] };

const HEAD_GRACE_MS = 60_000;
/** This is long, because git may compress a large file in the middle of a pack. */
const PUSH_GRACE_MS = 120_000;
const PUSH_CONTENDED_GRACE_MS = 60_000;
const RESPONSE_READ_MS = 2_000;

/** Git warns about every odd tree, and a pack may contain millions. */
const UNREAD_MAX_BYTES = 256 * 1024;

/**
 * Forwards git's report after the change is recorded, so that a client finds the event of a finished push.
 * @param actorNow is called again when everything has arrived, which the sender can delay (S114, S135)
 * @param pushedAs the `owner/name` that the client used
 * @param pace overrides the usual pace, for tests
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
  // A client may first ask with an empty request whether it may push.
  if (head.commands.length > 0) {
    const refused = await refuseCommands(actor, repo, path, head.commands);
    const isAllRefused = head.capabilities.has("atomic") && refused.size > 0;
    const commands = isAllRefused ? [] : head.commands.filter((command) => !refused.has(command));
    const outcome =
      commands.length > 0
        ? await push({ actor, actorNow, repo, path, head, body, commands, begin, req, res, pace })
        : await dropPack(req, body, pace);
    const refs = new Map(
      head.commands.map((command) => [
        command.rawRef,
        refused.get(command) ??
          (isAllRefused ? "not changed, because another ref of this push was refused" : reasonOf(repo, command, outcome.report)),
      ]),
    );
    const messages = outcome.recorded ? await pushMessages(outcome.recorded, pushedAs) : [];
    begin();
    res.write(answerPush(head.capabilities, { unpack: outcome.report.unpack, refs }, [...outcome.messages, ...messages]));
  }
  begin();
  res.end();
}

/** The head uses memory without a slot, so it must arrive at a certain pace. */
async function readHead({ req, res }: TransferRequest, { stream }: TransferBody, pace: Partial<Watched>): Promise<PushHead> {
  let stopWatching = () => {};
  const slow = new Promise<never>((_, reject) => {
    const watched = { bytes: () => req.socket.bytesRead, isWaiting: () => !req.complete, graceMs: HEAD_GRACE_MS };
    stopWatching = watchPace({ ...watched, ...pace, onTooSlow: () => reject(tooSlow()) });
  });
  try {
    return await Promise.race([readCommands(stream), slow]);
  } catch (error) {
    if (!res.headersSent) res.setHeader("Connection", "close");
    throw error;
  } finally {
    stopWatching();
  }
}

/** A client reads the reason of a refusal only after sending its pack. */
async function dropPack(req: IncomingMessage, body: TransferBody, pace: Partial<Watched>): Promise<Outcome> {
  const watched = { bytes: () => req.socket.bytesRead, isWaiting: () => !req.complete, graceMs: PUSH_GRACE_MS };
  const stopWatching = watchPace({ ...watched, ...pace, onTooSlow: () => req.destroy() });
  await body.drop().finally(stopWatching);
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
  /** Afterwards no error can replace the response. */
  begin: () => void;
  req: IncomingMessage;
  res: ServerResponse;
  pace: Partial<Watched>;
};

async function push({ actor, actorNow, repo, path, head, body, commands, begin, req, res, pace }: Push): Promise<Outcome> {
  const outcome: Outcome = { report: { unpack: "the push ended early", refs: new Map() }, messages: [] };
  const protectedRef = commands.find(({ ref }) => isProtectedRef(repo, ref))?.ref;
  const inputMax = await pushInputMax(actor, repo);
  const options = {
    isLimited: true,
    // Low priority, because checking a small pack may take minutes after it has arrived.
    ...{ niceness: 10, isLong: true, oldAfterMs: 60_000 },
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
    async ({ child, closed, mustYield }) => {
      begin();
      const output = new ReceivedOutput((packet) => {
        const isHeard = head.capabilities.has("side-band-64k") && !res.closed && res.writableLength < UNREAD_MAX_BYTES;
        if (isHeard) res.write(packet);
      });
      child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
      const channel = new HookChannel(child);
      child.stdin.write(requestOf(head, commands));
      child.stdin.write(head.rest);
      feed(body, child.stdin);
      const isSlow = endWhenSlow({ req, res, child, closed, mustYield, pace });
      const stopHolding = holdArriving(actor, repo, body.receivedBytes, () => child.stdin.destroy());
      const arrival = await channel.arrival;
      const full = await stopHolding();
      const checked = arrival
        ? await checkPush(actorNow, repo, path, arrival, { commands, isAtomic: head.capabilities.has("atomic") })
        : {};
      const isCutShort = !arrival && (full !== undefined || (inputMax < pushMaxBytes() && body.receivedBytes() > inputMax));
      if (isCutShort) await body.drop();
      const refusal =
        checked.refusal ?? full ?? (isCutShort ? await checkReceivedSize(actor, repo, body.receivedBytes()) : undefined);
      if (refusal) outcome.messages.push(...refusal.messages);
      if (arrival && !refusal) {
        let hasStarted = false;
        const perform = async () => {
          hasStarted = true;
          output.refChangesBegin();
          channel.answer("go");
          await closed;
          return changedBy(output, commands);
        };
        try {
          outcome.recorded = await changeRefs(repo, actor, commands.map(asChange), perform, arrival.quarantine);
        } catch (error) {
          log().error({ err: error, repo: repo.id, hasStarted }, "a push could not be recorded");
          const reason = isServiceError(error) ? error.message : "Try again in a moment.";
          outcome.messages.push(hasStarted ? "The changes of this push will be visible soon." : reason);
        }
        if (!hasStarted) channel.answer("stop");
      } else channel.answer("stop");
      await closed;
      channel.close();
      await checked.hold?.release();
      const report = output.report();
      if (report) outcome.report = report;
      if (refusal)
        outcome.report.refs = new Map(commands.map((each) => [each.rawRef, refusal.reasons?.get(each) ?? refusal.reason]));
      if (isSlow()) outcome.messages.push(TOO_SLOW);
      if (body.isCut()) outcome.messages.push(tooLarge(pushMaxBytes()));
      if (!arrival && report) outcome.recorded = await recordWithoutHook(actor, repo, changedBy(output, commands));
    },
  );
  return outcome;
}

function endWhenSlow({
  req,
  res,
  child,
  closed,
  mustYield,
  pace,
}: Pick<Push, "req" | "res" | "pace"> & Pick<Transfer, "child" | "closed" | "mustYield">): () => boolean {
  let isSlow = false;
  const stop = watchPace({
    bytes: () => req.socket.bytesRead,
    isWaiting: () => !req.complete && !child.stdin.destroyed && !child.stdin.writableNeedDrain,
    graceMs: PUSH_GRACE_MS,
    contendedGraceMs: PUSH_CONTENDED_GRACE_MS,
    mustYield,
    onTooSlow: () => {
      isSlow = true;
      child.stdin.destroy();
      res.once("finish", () => setTimeout(() => req.destroy(), RESPONSE_READ_MS).unref());
    },
    ...pace,
  });
  void closed.then(stop);
  return () => isSlow;
}

type CheckedPush = { commands: readonly Command[]; isAtomic: boolean };

async function checkPush(
  actorNow: ActorNow,
  repo: Repo,
  path: string,
  arrival: Arrival,
  asked: CheckedPush,
): Promise<{ refusal?: Refusal; hold?: Hold }> {
  let checked: { refusal?: Refusal; hold?: Hold } = {};
  try {
    const actor = await actorNow();
    const refused =
      (await checkRight(actor, repo, asked.commands)) ??
      (await checkArrival({ path, repoId: repo.id, actor }, arrival, asked.commands)) ??
      (arrival.quarantine === undefined ? undefined : await checkRefs(repo, path, arrival.quarantine, asked));
    const stored = { path, quarantine: arrival.quarantine, addedRefs: addedRefs(asked.commands) };
    checked = refused ? { refusal: refused } : await checkStorage(actor, repo, stored);
    // Checked again, because the pusher decides how long these checks take.
    const late = checked.refusal ? undefined : await checkRight(await actorNow(), repo, asked.commands);
    if (!late) return checked;
    await checked.hold?.release();
    return { refusal: late };
  } catch (error) {
    await checked.hold?.release();
    if (isServiceError(error) && error.code === "unauthorized")
      return { refusal: { reason: "the token of this push is no longer valid", messages: [] } };
    if (!isServiceError(error)) log().error({ err: error, repo: repo.id }, "a push could not be checked");
    const sentence = isServiceError(error) ? error.message : "Something went wrong on our side. Try again in a moment.";
    return { refusal: { reason: "the push could not be checked", messages: [sentence] } };
  }
}

/** Since the push began, the actor may have lost the right, or a branch may have become protected (S135). */
async function checkRight(actor: Actor, before: Repo, commands: readonly Command[]): Promise<Refusal | undefined> {
  const repo = await readRepo(before.id);
  if (!repo) return { reason: "this repository no longer exists", messages: [] };
  // Git's hook knows only the branch that was protected at the start.
  if (commands.some(({ ref }) => isProtectedRef(repo, ref) && !isProtectedRef(before, ref)))
    return { reason: `${repo.defaultBranch} has just become protected: push again`, messages: [] };
  const [reason] = (await refuseByRight(actor, repo, commands)).values();
  return reason === undefined ? undefined : { reason, messages: [] };
}

/** On some systems, git cannot run the hook. */
async function recordWithoutHook(actor: Actor, repo: Repo, changed: RefChange[]): Promise<Recorded | undefined> {
  if (changed.length === 0) return undefined;
  log().error(
    { repo: repo.id },
    "git did not run the hook: limits inside packs are not enforced, and changes of a killed push are not detected",
  );
  return changeRefs(repo, actor, changed, async () => changed);
}
