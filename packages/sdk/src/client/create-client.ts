import { z } from "zod";
import { type RelaysClient, relaysOf } from "../relay/relays.ts";
import { type Whoami, type WhoamiJob, whoamiJobSchema, whoamiSchema } from "../whoami.ts";
import type { Asked } from "./addresses.ts";
import { orAborted } from "./answers.ts";
import { type AppsClient, appsOf } from "./apps.ts";
import { type AuditLogClient, auditLogOf } from "./audit-log.ts";
import { type JobsClient, jobsOf } from "./jobs.ts";
import { type OrganizationsClient, organizationsOf } from "./organizations.ts";
import { type ReposClient, reposOf } from "./repos.ts";
import { type ClientOptions, createTransport, type Transport } from "./transport.ts";
import { type WebhooksClient, webhooksOf } from "./webhooks.ts";

/** The client that {@link createClient} returns. @group Client */
export type Client = Transport & {
  /** Reads whose token it is: a person's, or a CI job's. */
  whoami: (asked?: Asked) => Promise<WhoAmI>;
  /** Webhooks, their deliveries and replays. */
  webhooks: WebhooksClient;
  /** OAuth apps. */
  apps: AppsClient;
  /** Jobs and schedules. */
  jobs: JobsClient;
  /** Repositories, with their branches and discussions. */
  repos: ReposClient;
  /** Organizations and their members. */
  organizations: OrganizationsClient;
  /** The audit log of an organization. */
  auditLog: AuditLogClient;
  /** Relays: public URLs for receivers that have none. */
  relays: RelaysClient;
};

/**
 * Creates a client of the service's API. Nothing is sent until you call an operation. Each operation takes `{ signal }` as its last
 * argument and throws {@link ApiError}. A request that is safe to repeat is sent again, up to `maxRetries` times: after 429, 502,
 * 503, 504, lost connections and timeouts.
 *
 * Lists are {@link Paged}: read them with `for await`. Streams (`webhooks.live`, `jobs.logs`) reconnect and continue where they were cut
 * off. For URLs without an operation, use {@link Transport.request}.
 * @param options `baseUrl`, and a `token`: a personal access token, `accessToken` of a sign-in, or {@link keepTokens}.
 * @returns The client. Next, `client.whoami()` reads whose token it is.
 * @throws TypeError if `baseUrl` is not a web address.
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "https://hub.example.com", token });
 * const { name } = await client.whoami();
 * for await (const delivery of client.webhooks.deliveries(id, { state: "failed" })) console.log(delivery.event);
 * ```
 * @group Client
 */
export function createClient(options: ClientOptions): Client {
  const transport: Transport = createTransport(options);
  const whoami = whoamiOf(transport);
  let known: Promise<string> | undefined;
  /** Reads the name only once, because all tokens of one client belong to the same user. */
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

/** The owner of the token: a person, or a CI job that acts for one repository (`type: "publisher"`). @group Client */
export type WhoAmI = Whoami | WhoamiJob;

const whoamiAnswerSchema = z.union([whoamiSchema, whoamiJobSchema]);

const whoamiOf =
  ({ request }: Transport) =>
  ({ signal }: Asked = {}): Promise<WhoAmI> =>
    request("GET", "/api/whoami-v2", { schema: whoamiAnswerSchema, signal });
