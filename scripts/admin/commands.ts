import type { Command } from "./command.ts";

type Commands = readonly Command[];

/** In the order of the help text. Modules are loaded when needed, because all together load most of the service. */
const modules: Readonly<Record<string, () => Promise<Commands>>> = {
  user: async () => (await import("./user.ts")).userCommands,
  org: async () => (await import("./org.ts")).orgCommands,
  app: async () => (await import("./app.ts")).appCommands,
  token: async () => [(await import("./token.ts")).tokenCreate],
  keys: async () => [(await import("./keys.ts")).keysRotate],
  secrets: async () => [(await import("./keys.ts")).secretsRotate],
  registration: async () => (await import("./registration.ts")).registrationCommands,
  resource: async () => (await import("./resource.ts")).resourceCommands,
  "identity-provider": async () => (await import("./identity-provider.ts")).identityProviderCommands,
  "client-host": async () => (await import("./client-host.ts")).clientHostCommands,
  repo: async () => (await import("./repo.ts")).repoCommands,
  platform: async () => (await import("./platform.ts")).platformCommands,
  storage: async () => (await import("./storage.ts")).storageCommands,
  event: async () => (await import("./event.ts")).eventCommands,
  "inference-provider": async () => (await import("./inference-provider.ts")).inferenceProviderCommands,
  async mail() {
    const { mailList, mailTest } = await import("./mail.ts");
    return [mailList, mailTest];
  },
  audit: async () => (await import("./audit.ts")).auditCommands,
  database: async () => (await import("./database.ts")).databaseCommands,
  backup: async () => (await import("./backup.ts")).backupCommands,
  restore: async () => (await import("./backup.ts")).restoreCommands,
  doctor: async () => [(await import("./doctor.ts")).doctor],
};

export async function loadAllCommands(): Promise<Commands> {
  return (await Promise.all(Object.values(modules).map((load) => load()))).flat();
}

export async function loadCommands(argv: readonly string[]): Promise<Commands> {
  const [first = "", second = ""] = argv;
  const ofModule = Object.hasOwn(modules, first) ? await modules[first]?.() : undefined;
  const command = ofModule?.find(({ name }) => name === `${first} ${second}` || name === first);
  return command ? [command] : loadAllCommands();
}
