export type Ports = { service: number; serverSide: number; inBrowser: number };

/** Mara is in two organizations, so that there is something to choose; Opal runs the service. */
export const people = [
  { username: "mara", email: "mara@example.test", isOperator: false },
  { username: "jonas", email: "jonas@example.test", isOperator: false },
  { username: "aiko", email: "aiko@example.test", isOperator: false },
  { username: "opal", email: "opal@example.test", isOperator: true },
] as const;

export const organizations = [
  { name: "northwind-labs", owner: "mara", members: [{ username: "jonas", role: "read" }] },
  {
    name: "tidepool",
    owner: "aiko",
    members: [
      { username: "mara", role: "write" },
      { username: "jonas", role: "contributor" },
    ],
  },
] as const;

const SCOPES = "openid profile email read-repos write-discussions";

/** The OAuth apps of the two sites in examples/sign-in-site, as arguments of `admin app create`. */
export function sampleApps({ serverSide, inBrowser }: Ports): { key: string; args: string[] }[] {
  const sites = [
    { name: "Paper Lantern", url: sampleSiteUrl(serverSide), owner: ["--owner", "aiko"], kind: ["--confidential"] },
    { name: "Copper Kite", url: sampleSiteUrl(inBrowser), owner: ["--org", "tidepool"], kind: [] },
  ];
  return sites.map(({ name, url, owner, kind }) => ({
    key: url,
    args: [
      ...["--name", name, ...owner, ...kind, "--scopes", SCOPES],
      ...["--redirect-uri", `${url}/callback`, "--post-logout-redirect-uri", `${url}/`],
    ],
  }));
}

/** Not `localhost`, as the service: a third-party site has another host name, and no cookie of ours. */
export function sampleSiteUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}
