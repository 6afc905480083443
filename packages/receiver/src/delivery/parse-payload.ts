import type { WebhookPayload } from "@keyhook/sdk";
import { type Answer, json } from "./incoming-request.ts";

type Problem = { loc: string[]; msg: string; type: string };

/** The payload, or the 422 that says what is wrong with it. Scopes and fields that this version does not know are let through. */
export function parsePayload(
  contentType: string | undefined,
  body: Uint8Array,
): { payload: WebhookPayload } | { refused: Answer } {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "")) {
    return refused([
      { loc: ["header", "content-type"], msg: "Send JSON, with content-type: application/json", type: "content_type" },
    ]);
  }
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return refused([{ loc: ["body"], msg: "This is not JSON", type: "json_invalid" }]);
  }
  const problems = [
    ...["event.scope", "event.action", "repo.type", "repo.name"]
      .filter((path) => typeof at(payload, path) !== "string")
      .map(missing),
    ...(at(payload, "webhook.version") === undefined || at(payload, "webhook.version") === 3
      ? []
      : [{ loc: ["body", "webhook", "version"], msg: "This receiver reads version 3", type: "literal_error" }]),
  ];
  return problems.length > 0 ? refused(problems) : { payload: payload as WebhookPayload };
}

const refused = (detail: Problem[]) => ({ refused: json(422, { detail }) });
const missing = (path: string): Problem => ({
  loc: ["body", ...path.split(".")],
  msg: "A text is required here",
  type: "missing",
});

function at(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
