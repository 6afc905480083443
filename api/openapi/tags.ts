/** The tags are in the order of the reference. The first matching pattern applies. */
export const tags: readonly { name: string; description: string; of: RegExp }[] = [
  {
    name: "OAuth",
    description:
      "Signing people in, and the tokens that all other operations accept: authorization code with PKCE, device code, refresh, token exchange, introspection and revocation. Errors have the codes of the RFCs.",
    of: /^\/(oauth\/|\.well-known\/)/,
  },
  {
    name: "Identity",
    description: "The owner of a token, and revoking leaked tokens.",
    of: /whoami|\/tokens?\/|credentials/,
  },
  {
    name: "Webhooks",
    description:
      "Notifications of changes: your own webhooks and those of organizations, their deliveries, tests and replays. The “webhooks” section of the document describes the requests to receivers.",
    of: /settings\/webhooks/,
  },
  {
    name: "Relays",
    description: "Receiving deliveries on a machine that cannot be reached from outside.",
    of: /\/relays?(\/|$)/,
  },
  {
    name: "Apps",
    description: "OAuth apps, which people sign in to with their accounts here.",
    of: /\/(oauth-apps|applications|apps)(\/|$)/,
  },
  {
    name: "Jobs",
    description: "Running a command in a Docker image or with the files of a Space; logs and stages as server-sent events.",
    of: /^\/api\/jobs/,
  },
  { name: "Scheduled jobs", description: "Running jobs on a schedule.", of: /^\/api\/scheduled-jobs/ },
  {
    name: "Spaces",
    description: "The app of a Space: its stage, variables and secrets.",
    of: /^\/api\/spaces\/.+\/(runtime|host|restart|pause|sleeptime|logs|variables|secrets)/,
  },
  {
    name: "Access requests",
    description: "Requests for access to gated repositories, and decisions about them.",
    of: /user-access-request/,
  },
  {
    name: "Discussions",
    description: "Discussions and pull requests of a repository, with their comments.",
    of: /\/discussions/,
  },
  {
    name: "Commits",
    description: "Changing the content of a repository: commits, branches and tags.",
    of: /\/(preupload|commit|branch|super-squash|tag)\/|validate-yaml/,
  },
  {
    name: "Files",
    description: "The content of a repository at a revision: files, folders, commits, branches and tags.",
    of: /\/(tree|paths-info|commits|refs|compare|resolve|raw)(\/|$)/,
  },
  {
    name: "Platforms",
    description: "For platforms that host repositories elsewhere, and report them and their changes to this service.",
    of: /\/(events|repos\/sync)$/,
  },
  { name: "Collections", description: "Lists of repositories, with notes.", of: /^\/api\/collections/ },
  {
    name: "People and organizations",
    description: "Users, organizations and their members, and an organization's audit log.",
    of: /^\/api\/(users|organizations)/,
  },
  {
    name: "Repositories",
    description: "Models, datasets and Spaces: creating, finding, configuring, moving and deleting them.",
    of: /^\/api\/(repos|models|datasets|spaces|\{type\})/,
  },
  { name: "Service", description: "About this API itself.", of: /./ },
];

export const tagOf = (path: string): string => tags.find(({ of }) => of.test(path))?.name ?? "Service";
