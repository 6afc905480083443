import { randomBytes, randomInt } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { env } from "#core/env.ts";
import {
  DEVICE_APP,
  documentSiteUrl,
  EXCHANGE_APP,
  operator,
  type Ports,
  people,
  receiverUrl,
  sampleSiteUrl,
} from "./samples.ts";

function exchangeEnvironment(origin: string, { apps }: Made): string {
  const { clientId, clientSecret } = apps[EXCHANGE_APP] ?? {};
  return `ISSUER=${origin} CLIENT_ID=${clientId} CLIENT_SECRET=${clientSecret}`;
}

export function describeDemo({ ports, sample, hasSpaces }: { ports: Ports; sample: Made; hasSpaces: boolean }): string {
  const { BRAND_NAME, ORIGIN, DATA_DIR, OUTBOUND_ALLOW_CIDRS } = env();
  const names = [...people.map(({ username }) => username), `${operator.username} (operator)`].join(", ");
  const rows = [
    [BRAND_NAME, ORIGIN],
    ["Paper Lantern", `${sampleSiteUrl(ports.serverSide)}  a site that signs users in on its server`],
    ["Copper Kite", `${sampleSiteUrl(ports.inBrowser)}  a site that signs users in within the browser`],
    ["Slate Heron", `${documentSiteUrl(ports)}  an unregistered site, which describes itself`],
    ["", "Its certificate was created here, so the browser warns once: continue to 127.0.0.1."],
    ["Tin Whistle", "a command line that signs users in with a code; in another terminal:"],
    ["", `ISSUER=${ORIGIN} CLIENT_ID=${sample.apps[DEVICE_APP]?.clientId} npm start --workspace examples/device-cli`],
    ["Night Heron", "a program that acts for members of tidepool by their e-mail address; in another terminal:"],
    ["", `${exchangeEnvironment(ORIGIN, sample)} npm start --workspace examples/org-token-exchange`],
    ["Webhooks", `${receiverUrl(ports)}  a program that receives every change; one of its handlers is closed for maintenance`],
    ["", `as mara: ${ORIGIN}/settings/webhooks, as aiko: ${ORIGIN}/organizations/tidepool/settings/webhooks`],
    hasSpaces
      ? ["Post Box", `${ORIGIN}/spaces/mara/post-box/app/  a Space that runs here and shows the latest deliveries of a webhook`]
      : [
          "Post Box",
          "a Space that shows webhook deliveries: not created, because this machine has no sandbox (apt-get install bubblewrap)",
        ],
    [],
    ["Repositories", `a model, two datasets and Spaces, under ${ORIGIN}/mara, /aiko and /tidepool:`],
    ["", `git clone ${ORIGIN}/mara/tide-forecasts`],
    [
      "",
      `git clone ${ORIGIN}/datasets/tidepool/gauge-readings  private: give git an access token of mara or aiko as the password`,
    ],
    ["History", "the last month is made up: commits, deliveries with some failures, sign-ins, the use of apps"],
    [],
    ["People", names],
    ["Password", `${sample.password}  for each of them`],
  ];
  const width = Math.max(...rows.map(([label = ""]) => label.length));
  return [
    "",
    ...rows.map(([label = "", text = ""]) => `  ${label.padEnd(width)}  ${text}`.trimEnd()),
    "",
    `Open ${sampleSiteUrl(ports.serverSide)} and sign in as mara, who is in two organizations.`,
    `Data is kept in ${DATA_DIR}; delete that directory to start again.`,
    `The service may call ${OUTBOUND_ALLOW_CIDRS.join(", ")} (OUTBOUND_ALLOW_CIDRS). Ctrl-C stops everything.`,
    "",
  ].join("\n");
}

export type Made = {
  password: string;
  webhookSecret: string;
  spaceSecret: string;
  people: Record<string, true>;
  organizations: Record<string, { id: string; fullName: string }>;
  members: Record<string, true>;
  apps: Record<string, { clientId: string; clientSecret?: string }>;
  repos: Record<string, true>;
  webhooks: Record<string, true>;
};

type Kind = { [K in keyof Made]: Made[K] extends string ? never : K }[keyof Made];

/** The file has mode 600, because it contains a client secret and the samples' password. */
export class Notes {
  made: Made;
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, "demo.json");
    this.made = { ...fresh(), ...read(this.#path) };
  }

  async once<K extends Kind>(kind: K, key: string, make: () => Promise<Made[K][string]>): Promise<void> {
    const known = this.made[kind] as Record<string, Made[K][string]>;
    if (known[key]) return;
    known[key] = await make();
    this.save();
  }

  save(): void {
    mkdirSync(join(this.#path, ".."), { recursive: true });
    // An interrupted write leaves the old notes intact.
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(this.made, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }

  forget(): void {
    this.made = { ...fresh(), password: this.made.password };
  }
}

function read(path: string): Partial<Made> {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Error(`${path} cannot be read; delete it, or the whole directory, to start again.`, { cause: error });
  }
}

function fresh(): Made {
  const [webhookSecret, spaceSecret] = [randomSecret(), randomSecret()];
  const password = randomPassword();
  return { password, webhookSecret, spaceSecret, people: {}, organizations: {}, members: {}, apps: {}, repos: {}, webhooks: {} };
}

const randomSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

/** The password has sixty bits, because the demo may be reachable from the network. */
function randomPassword(): string {
  const symbols = "abcdefghijkmnpqrstuvwxyz23456789";
  const group = () => Array.from({ length: 4 }, () => symbols[randomInt(symbols.length)]).join("");
  return [group(), group(), group()].join("-");
}
