import { env } from "#core/env.ts";
import type { Made } from "./notes.ts";
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

/** What the person who started the demo reads when everything runs. */
export function describeDemo({ ports, sample }: { ports: Ports; sample: Made }): string {
  const { BRAND_NAME, ORIGIN, DATA_DIR, OUTBOUND_ALLOW_CIDRS } = env();
  const names = [...people.map(({ username }) => username), `${operator.username} (operator)`].join(", ");
  const rows = [
    [BRAND_NAME, ORIGIN],
    ["Paper Lantern", `${sampleSiteUrl(ports.serverSide)}  a site that signs people in on its server`],
    ["Copper Kite", `${sampleSiteUrl(ports.inBrowser)}  a site that does so within the browser`],
    ["Slate Heron", `${documentSiteUrl(ports)}  a site that is registered nowhere: it describes itself`],
    ["", "Its certificate was made here, so the browser warns once: go on to 127.0.0.1."],
    ["Tin Whistle", "a command line that signs people in by a code; in another terminal:"],
    ["", `ISSUER=${ORIGIN} CLIENT_ID=${sample.apps[DEVICE_APP]?.clientId} npm start --workspace examples/device-cli`],
    ["Night Heron", "a program that acts for members of tidepool by their e-mail address; in another terminal:"],
    ["", `${exchangeEnvironment(ORIGIN, sample)} npm start --workspace examples/org-token-exchange`],
    ["Webhooks", `${receiverUrl(ports)}  a program that is told of every change; one part of it is closed for maintenance`],
    ["", `as mara: ${ORIGIN}/settings/webhooks, as aiko: ${ORIGIN}/organizations/tidepool/settings/webhooks`],
    ["Post Box", `${ORIGIN}/spaces/mara/post-box/app/  a Space that runs here and shows what a webhook told it last`],
    [],
    ["Repositories", `a model, two datasets and two Spaces, under ${ORIGIN}/mara, /aiko and /tidepool:`],
    ["", `git clone ${ORIGIN}/mara/tide-forecasts`],
    ["", `git clone ${ORIGIN}/datasets/tidepool/gauge-readings  private: git asks for an access token of mara's or aiko's`],
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
    `Data is kept in ${DATA_DIR}; remove that directory to begin afresh.`,
    `The service may call ${OUTBOUND_ALLOW_CIDRS.join(", ")} (OUTBOUND_ALLOW_CIDRS). Ctrl-C stops everything.`,
    "",
  ].join("\n");
}
