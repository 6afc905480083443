export type Ports = { service: number; serverSide: number; inBrowser: number; byDocument: number; receiver: number };

/** Runs the service; made before its first start, which else prints a link for making the first operator. */
export const operator = { username: "opal", fullName: "Opal Achterberg", email: "opal@example.test" };

/** Mara is in two organizations, so that there is something to choose. */
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
    // For examples/org-token-exchange.
    plan: "enterprise",
    members: [
      { username: "mara", role: "write" },
      { username: "jonas", role: "contributor" },
    ],
  },
] as const;

const SCOPES = "openid profile email read-repos write-discussions";

/** Under what the notes know the OAuth app of examples/device-cli, which has no address. */
export const DEVICE_APP = "device-cli";

/** Likewise that of examples/org-token-exchange, which acts for members of tidepool. */
export const EXCHANGE_APP = "org-token-exchange";

/** The OAuth apps of the two sites in examples/sign-in-site and of examples/device-cli, as arguments of `admin app create`. */
export function sampleApps({ serverSide, inBrowser }: Ports): { key: string; args: string[] }[] {
  const sites = [
    { name: "Paper Lantern", url: sampleSiteUrl(serverSide), owner: ["--owner", "aiko"], kind: ["--confidential"] },
    { name: "Copper Kite", url: sampleSiteUrl(inBrowser), owner: ["--org", "tidepool"], kind: [] },
  ];
  return [
    ...sites.map(({ name, url, owner, kind }) => ({
      key: url,
      args: [
        ...["--name", name, ...owner, ...kind, "--scopes", SCOPES],
        ...["--redirect-uri", `${url}/callback`, "--post-logout-redirect-uri", `${url}/`],
      ],
    })),
    {
      key: EXCHANGE_APP,
      args: [
        ...["--name", "Night Heron", "--org", "tidepool", "--privilege", "token-exchange"],
        ...["--scopes", "openid profile read-repos write-repos manage-repos"],
      ],
    },
    { key: DEVICE_APP, args: ["--name", "Tin Whistle", "--owner", "jonas", "--device", "--scopes", SCOPES] },
  ];
}

/** Not `localhost`, as the service: a third-party site has another host name, and no cookie of ours. */
export function sampleSiteUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** The site that is known by its metadata document, which is served over https only. */
export function documentSiteUrl({ byDocument }: Ports): string {
  return `https://127.0.0.1:${byDocument}`;
}

/** Where examples/webhook-receiver listens. */
export function receiverUrl({ receiver }: Pick<Ports, "receiver">): string {
  return `http://127.0.0.1:${receiver}`;
}

/** Webhooks that tell it: one that it takes, and one whose part of it is closed for maintenance, so that there is something to retry. */
export const sampleWebhooks = [
  {
    key: "mara",
    by: "mara",
    api: "/api/settings/webhooks",
    path: "/webhooks/onChange",
    watched: ["user:mara", "user:aiko", "org:tidepool"],
  },
  {
    key: "tidepool",
    by: "aiko",
    api: "/api/organizations/tidepool/settings/webhooks",
    path: "/webhooks/maintenance",
    watched: ["org:tidepool"],
  },
].map(({ watched, ...webhook }) => ({
  ...webhook,
  watched: watched.map((item) => ({ type: item.split(":")[0], name: item.split(":")[1] })),
}));
