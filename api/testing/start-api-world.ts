import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { requestContext } from "#core/log.ts";
import { handleOidc } from "#core/oauth/handler.ts";
import { startWorld } from "#core/oauth/testing/world.ts";
import { api } from "../app.ts";
import { answerChecker } from "./check-answers.ts";

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** `stop` fails if a response differed from the OpenAPI document. */
export async function startApiWorld() {
  let checker: ReturnType<typeof answerChecker> | undefined;
  const checkedFetch: typeof api.fetch = async (request, ...rest) => {
    const response = await api.fetch(request, ...rest);
    checker ??= answerChecker();
    await checker.check(request, response);
    return response;
  };
  const handleApi = getRequestListener(checkedFetch, { overrideGlobalObjects: false }) as Handler;
  const world = await startWorld((req, res) => {
    if (/^\/(oauth|\.well-known)\//.test(req.url ?? "")) void handleOidc(req, res, "127.0.0.1");
    else {
      // Requests get the context that server/handle-request.ts provides for all doors.
      const whenClosed = (listener: () => void) => {
        res.once("close", listener);
        return () => void res.off("close", listener);
      };
      requestContext.run({ requestId: "test", ip: req.socket.remoteAddress ?? null, whenClosed }, () => void handleApi(req, res));
    }
  });
  return {
    ...world,
    answered: (): ReadonlySet<string> => checker?.checked.seen ?? new Set(),
    stop: async (): Promise<void> => {
      await world.stop();
      const problems = [...new Set(checker?.checked.problems)];
      if (problems.length > 0) throw new Error(`Not as the OpenAPI document says:\n${problems.join("\n")}`);
    },
  };
}
