import { type Person, personActor } from "#core/access/actor.ts";
import { findSiteSession } from "#core/accounts/sessions/find-site-session.ts";
import { isServiceError } from "#core/errors.ts";
import { countAgainst } from "#core/fair-queue/party.ts";
import { streamOfText } from "#core/http/stream-of-text.ts";
import { withKeepAlive } from "#core/http/with-keep-alive.ts";
import { findJobNamespace } from "#core/jobs/find-job-namespace.ts";
import { followLog, readWholeLog, takeLogSlot } from "#core/jobs/logs/read-log.ts";
import { findRun } from "#core/jobs/runs/find-run.ts";
import { isOver } from "#core/jobs/stages.ts";
import type { OwnerPageProps } from "../owner-page.ts";
import type { OwnerName } from "../paths.ts";
import { sessionToken } from "../session.ts";

/** With `?download`, sends a file. Otherwise sends events: `log` with numbered chunks, `stage` for changes, `over` at the end. */
export async function answerRunLog(
  request: Request,
  { params }: Pick<OwnerPageProps<{ runId: string }>, "params">,
): Promise<Response> {
  const { org: home = null, runId } = await params;
  try {
    const checkAccess = await accessCheck(home, runId);
    await checkAccess();
    const query = new URL(request.url).searchParams;
    if (query.has("download")) return download(runId, checkAccess);
    takeLogSlot();
    const after = Number(request.headers.get("last-event-id") ?? query.get("after") ?? 0);
    const from = Number.isSafeInteger(after) && after >= 0 && after < 2 ** 31 ? after : 0;
    const events = (signal: AbortSignal) => logEvents(runId, from, signal);
    return new Response(streamOfText(withKeepAlive(events, { signal: request.signal, check: checkAccess })), {
      headers: {
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-store, no-transform",
        "X-Accel-Buffering": "no",
      },
    });
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return new Response(`${error.message}\n`, { status: error.status, headers: { "Cache-Control": "no-store" } });
  }
}

async function accessCheck(home: OwnerName, runId: string) {
  const token = await sessionToken();
  return async () => {
    const session = token ? await findSiteSession(token) : undefined;
    const person: Person | undefined = session && personActor(session);
    const actor = person ?? ({ kind: "anonymous" } as const);
    countAgainst(actor);
    const owner = await findJobNamespace(actor, "job.read", home ?? session?.user.username ?? "");
    return findRun(actor, owner, runId);
  };
}

async function* logEvents(runId: string, after: number, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  let lastStage: string | undefined;
  yield "retry: 2000\n\n";
  for await (const { chunks, stage } of followLog(runId, { after, signal })) {
    const last = chunks.at(-1)?.seq;
    if (last !== undefined) yield `id: ${last}\nevent: log\ndata: ${JSON.stringify(chunks)}\n\n`;
    if (stage !== lastStage && !isOver(stage)) yield `event: stage\ndata: ${JSON.stringify(stage)}\n\n`;
    lastStage = stage;
  }
  if (!signal.aborted && lastStage) yield `event: over\ndata: ${JSON.stringify(lastStage)}\n\n`;
}

function download(runId: string, checkAccess: () => Promise<unknown>): Response {
  return new Response(streamOfText(wholeLog(runId, checkAccess)), {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Disposition": `attachment; filename="job-${runId}.log"`,
      "Cache-Control": "no-store",
    },
  });
}

async function* wholeLog(runId: string, checkAccess: () => Promise<unknown>): AsyncGenerator<string> {
  for await (const chunks of readWholeLog(runId, checkAccess)) {
    yield chunks.map(({ text, stream }) => (stream === "system" ? `[system] ${text}` : text)).join("");
  }
}
