/** The nouns that operations are grouped by, in the order of the reference: the first matching pattern applies. */
export const tags: readonly { name: string; description: string; of: RegExp }[] = [
  {
    name: "OAuth",
    description:
      "Signing people in, and the tokens that everything else takes: authorization code with PKCE, device code, refresh, token exchange, introspection and revocation. Errors are those of the RFCs.",
    of: /^\/(oauth\/|\.well-known\/)/,
  },
  {
    name: "Identity",
    description: "Whose token it is, and ending tokens that have leaked.",
    of: /whoami|\/tokens?\/|credentials/,
  },
  {
    name: "Webhooks",
    description:
      "Being told of changes: webhooks of your own and of organizations, what they delivered, tests and replays. What a receiver gets is among the document's webhooks.",
    of: /settings\/webhooks/,
  },
  { name: "Relays", description: "Receiving deliveries where no address can be reached from outside.", of: /\/relays?(\/|$)/ },
  { name: "Apps", description: "OAuth apps: what signs people in here.", of: /\/(oauth-apps|applications|apps)(\/|$)/ },
  {
    name: "Jobs",
    description: "Running a command in an image or with the files of a Space; logs and stages as server-sent events.",
    of: /^\/api\/jobs/,
  },
  { name: "Scheduled jobs", description: "Running a job again and again.", of: /^\/api\/scheduled-jobs/ },
  {
    name: "Spaces",
    description: "The app of a Space: how it is doing, its variables and secrets.",
    of: /^\/api\/spaces\/.+\/(runtime|host|restart|pause|sleeptime|logs|variables|secrets)/,
  },
  {
    name: "Access requests",
    description: "Who asked to read a gated repository, and what they were answered.",
    of: /user-access-request/,
  },
  {
    name: "Discussions",
    description: "Discussions and pull requests of a repository, with their comments.",
    of: /\/discussions/,
  },
  {
    name: "Commits",
    description: "Changing what is in a repository: commits, branches and tags.",
    of: /\/(preupload|commit|branch|super-squash|tag)\/|validate-yaml/,
  },
  {
    name: "Files",
    description: "What is in a repository at a revision: files, folders, commits, branches and tags.",
    of: /\/(tree|paths-info|commits|refs|compare|resolve|raw)(\/|$)/,
  },
  {
    name: "Platforms",
    description: "For hubs that keep their repositories elsewhere and tell of them here.",
    of: /\/(events|repos\/sync)$/,
  },
  { name: "Collections", description: "Lists of repositories, with notes.", of: /^\/api\/collections/ },
  {
    name: "People and organizations",
    description: "Users, organizations, who is in them, and an organization's audit log.",
    of: /^\/api\/(users|organizations)/,
  },
  {
    name: "Repositories",
    description: "Models, datasets and Spaces: making, finding, settings, moving and deleting.",
    of: /^\/api\/(repos|models|datasets|spaces|\{type\})/,
  },
  { name: "Service", description: "About this API itself.", of: /./ },
];

export const tagOf = (path: string): string => tags.find(({ of }) => of.test(path))?.name ?? "Service";
