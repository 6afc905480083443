import { join } from "node:path";
import { env } from "#core/env.ts";
import type { Made } from "./describe-demo.ts";

export type Ports = { service: number; serverSide: number; inBrowser: number; byDocument: number; receiver: number };

/** The operator is created before the first start. Otherwise the service prints a link that creates the first operator. */
export const operator = { username: "opal", fullName: "Opal Achterberg", email: "opal@example.test" };

export const people = [
  { username: "mara", fullName: "Mara Lindqvist", email: "mara@example.test" },
  { username: "jonas", fullName: "Jonas Berg", email: "jonas@example.test" },
  { username: "aiko", fullName: "Aiko Tanabe", email: "aiko@example.test" },
];

export const organizations = [
  { name: "northwind", fullName: "Northwind Labs", owner: "mara", plan: null, members: [{ username: "jonas", role: "read" }] },
  {
    name: "tidepool",
    fullName: "Tidepool",
    owner: "aiko",
    plan: "enterprise",
    members: [
      { username: "mara", role: "write" },
      { username: "jonas", role: "contributor" },
    ],
  },
] as const;

const SCOPES = "openid profile email read-repos write-discussions";

/** The app of examples/device-cli has no URL. */
export const DEVICE_APP = "device-cli";

export const EXCHANGE_APP = "org-token-exchange";

/** The key of a site's app is the site's URL, because another port is another site. */
export function sampleApps({ serverSide, inBrowser }: Ports): { key: string; args: string[] }[] {
  const sites = [
    {
      name: "Paper Lantern",
      logo: "lantern",
      url: sampleSiteUrl(serverSide),
      owner: ["--owner", "aiko"],
      kind: ["--confidential"],
    },
    { name: "Copper Kite", logo: "kite", url: sampleSiteUrl(inBrowser), owner: ["--org", "tidepool"], kind: [] },
  ];
  return [
    ...sites.map(({ name, logo, url, owner, kind }) => ({
      key: url,
      args: [
        ...["--name", name, "--logo", logoPath(logo), ...owner, ...kind, "--scopes", SCOPES],
        ...["--redirect-uri", `${url}/callback`, "--post-logout-redirect-uri", `${url}/`],
      ],
    })),
    {
      key: EXCHANGE_APP,
      args: [
        ...["--name", "Night Heron", "--logo", logoPath("heron"), "--org", "tidepool", "--privilege", "token-exchange"],
        ...["--scopes", "openid profile read-repos write-repos manage-repos"],
      ],
    },
    {
      key: DEVICE_APP,
      args: [
        ...["--name", "Tin Whistle", "--logo", logoPath("whistle"), "--owner", "jonas"],
        ...["--device", "--scopes", SCOPES],
      ],
    },
  ];
}

const logoPath = (name: string): string => join(import.meta.dirname, "logos", `${name}.png`);

/** Another host than the service's `localhost`, because browsers share cookies between the ports of a host. */
export function sampleSiteUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

export function documentSiteUrl({ byDocument }: Ports): string {
  return `https://127.0.0.1:${byDocument}`;
}

export function receiverUrl({ receiver }: Pick<Ports, "receiver">): string {
  return `http://127.0.0.1:${receiver}`;
}

/** The receiver responds to the second webhook like a receiver in maintenance, to show retries. */
export const sampleWebhooks = [
  {
    key: "mara",
    by: "mara",
    name: "Tide watch",
    api: "/api/settings/webhooks",
    path: "/webhooks/onChange",
    watched: ["user:mara", "user:aiko", "org:tidepool"],
  },
  {
    key: "tidepool",
    by: "aiko",
    name: "Maintenance",
    api: "/api/organizations/tidepool/settings/webhooks",
    path: "/webhooks/maintenance",
    watched: ["org:tidepool"],
  },
].map(({ watched, ...webhook }) => ({
  ...webhook,
  watched: watched.map((item) => ({ type: item.split(":")[0], name: item.split(":")[1] })),
}));

export const sampleSpace = { owner: "mara", name: "post-box", watched: [{ type: "user", name: "mara" }] } as const;

export function sampleSitesEnvironment(ports: Ports, { apps, organizations }: Made): Record<string, string> {
  const serverSide = apps[sampleSiteUrl(ports.serverSide)];
  const inBrowser = apps[sampleSiteUrl(ports.inBrowser)];
  return {
    ISSUER: env().ORIGIN,
    ISSUER_NAME: env().BRAND_NAME,
    SERVER_SITE_PORT: String(ports.serverSide),
    SERVER_SITE_CLIENT_ID: serverSide?.clientId ?? "",
    SERVER_SITE_CLIENT_SECRET: serverSide?.clientSecret ?? "",
    BROWSER_SITE_PORT: String(ports.inBrowser),
    BROWSER_SITE_CLIENT_ID: inBrowser?.clientId ?? "",
    KNOWN_ORGANIZATIONS: JSON.stringify(Object.values(organizations).map(({ id, fullName }) => ({ id, name: fullName }))),
  };
}

export function documentSiteEnvironment(
  { byDocument }: Pick<Ports, "byDocument">,
  certificateDirectory: string,
): Record<string, string> {
  const { ORIGIN, BRAND_NAME, VENDOR } = env();
  return {
    ISSUER: ORIGIN,
    ISSUER_NAME: BRAND_NAME,
    PROVIDER_PATH: VENDOR,
    SITE_PORT: String(byDocument),
    CERTIFICATE_DIR: certificateDirectory,
  };
}
