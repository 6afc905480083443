import { relaysOf } from "../relay/relays.ts";
import { appsOf } from "./apps.ts";
import { auditLogOf } from "./audit-log.ts";
import { jobsOf } from "./jobs.ts";
import { orAborted } from "./or-aborted.ts";
import { organizationsOf } from "./organizations.ts";
import { reposOf } from "./repos.ts";
import { type ClientOptions, createTransport, type Transport } from "./transport.ts";
import { webhooksOf } from "./webhooks.ts";
import { whoamiOf } from "./whoami.ts";
import type { Asked } from "./whose.ts";

export type Client = ReturnType<typeof createClient>;

/**
 * The service's API in types. Every operation throws `ApiError`, takes `{ signal }` last, and is tried again where that is safe.
 *
 * ```ts
 * const client = createClient({ baseUrl: "https://hub.example.com", token });
 * const { name } = await client.whoami();
 * ```
 */
export function createClient(options: ClientOptions) {
  const transport: Transport = createTransport(options);
  const whoami = whoamiOf(transport);
  let known: Promise<string> | undefined;
  /** Asked once: a token function gives tokens of one person. */
  function ownName({ signal }: Asked = {}): Promise<string> {
    if (!known) {
      known = whoami().then(({ name }) => name);
      known.catch(() => {
        known = undefined;
      });
    }
    return orAborted(known, signal);
  }
  return {
    ...transport,
    whoami,
    webhooks: webhooksOf(transport),
    apps: appsOf(transport),
    jobs: jobsOf(transport, ownName),
    repos: reposOf(transport),
    organizations: organizationsOf(transport),
    auditLog: auditLogOf(transport),
    relays: relaysOf(transport),
  };
}
