import type { Command } from "./command.ts";

/** All there are, in the order of the help text. Loaded one by one: together they load most of the service. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  "user create": async () => (await import("./user-create.ts")).userCreate,
  "user reset-second-step": async () => (await import("./user-reset-second-step.ts")).userResetSecondStep,
  "user list": async () => (await import("./user.ts")).userList,
  "user disable": async () => (await import("./user.ts")).userDisable,
  "user enable": async () => (await import("./user.ts")).userEnable,
  "org create": async () => (await import("./org-create.ts")).orgCreate,
  "org add-member": async () => (await import("./org-add-member.ts")).orgAddMember,
  "org list": async () => (await import("./org-list.ts")).orgList,
  "org set-plan": async () => (await import("./org-set-plan.ts")).orgSetPlan,
  "org delete": async () => (await import("./org-delete.ts")).orgDelete,
  "app create": async () => (await import("./app-create.ts")).appCreate,
  "app privilege": async () => (await import("./app-privilege.ts")).appPrivilege,
  "token create": async () => (await import("./token-create.ts")).tokenCreate,
  "keys rotate": async () => (await import("./keys-rotate.ts")).keysRotate,
  "registration on": async () => (await import("./registration.ts")).registrationOn,
  "registration off": async () => (await import("./registration.ts")).registrationOff,
  "registration show": async () => (await import("./registration.ts")).registrationShow,
  "resource add": async () => (await import("./resource.ts")).resourceAdd,
  "resource list": async () => (await import("./resource.ts")).resourceList,
  "resource rotate": async () => (await import("./resource.ts")).resourceRotate,
  "resource remove": async () => (await import("./resource.ts")).resourceRemove,
  "identity-provider add": async () => (await import("./identity-provider.ts")).identityProviderAdd,
  "identity-provider list": async () => (await import("./identity-provider.ts")).identityProviderList,
  "identity-provider disable": async () => (await import("./identity-provider.ts")).identityProviderDisable,
  "identity-provider enable": async () => (await import("./identity-provider.ts")).identityProviderEnable,
  "identity-provider remove": async () => (await import("./identity-provider.ts")).identityProviderRemove,
  "client-host block": async () => (await import("./client-host.ts")).clientHostBlock,
  "client-host allow": async () => (await import("./client-host.ts")).clientHostAllow,
  "client-host remove": async () => (await import("./client-host.ts")).clientHostRemove,
  "client-host list": async () => (await import("./client-host.ts")).clientHostList,
  "client-host policy": async () => (await import("./client-host.ts")).clientHostPolicy,
  "repo list": async () => (await import("./repo.ts")).repoList,
  "repo move": async () => (await import("./repo.ts")).repoMove,
  "repo delete": async () => (await import("./repo.ts")).repoDelete,
  "platform create": async () => (await import("./platform.ts")).platformCreate,
  "platform list": async () => (await import("./platform.ts")).platformList,
  "platform rotate": async () => (await import("./platform.ts")).platformRotate,
  "platform revoke": async () => (await import("./platform.ts")).platformRevoke,
  "storage list": async () => (await import("./storage.ts")).storageList,
  "storage set": async () => (await import("./storage.ts")).storageSet,
  "event list": async () => (await import("./event.ts")).eventList,
  "event retry": async () => (await import("./event.ts")).eventRetry,
  "inference-provider add": async () => (await import("./inference-provider.ts")).inferenceProviderAdd,
  "inference-provider list": async () => (await import("./inference-provider.ts")).inferenceProviderList,
  "inference-provider remove": async () => (await import("./inference-provider.ts")).inferenceProviderRemove,
  "mail test": async () => (await import("./mail-test.ts")).mailTest,
  "audit list": async () => (await import("./audit.ts")).auditList,
  "audit export": async () => (await import("./audit.ts")).auditExport,
  "audit verify": async () => (await import("./audit.ts")).auditVerify,
  "audit retention": async () => (await import("./audit.ts")).auditRetention,
  "database migrate": async () => (await import("./database.ts")).databaseMigrate,
  "database copy": async () => (await import("./database.ts")).databaseCopy,
  "database move": async () => (await import("./database.ts")).databaseMove,
  doctor: async () => (await import("./doctor.ts")).doctor,
};

export async function loadAllCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()));
}

/** The command that a line begins with; all of them for a line that begins otherwise. */
export async function loadCommands(argv: readonly string[]): Promise<readonly Command[]> {
  const named = [argv.slice(0, 2).join(" "), argv[0] ?? ""].find((words) => Object.hasOwn(loaders, words));
  const load = named === undefined ? undefined : loaders[named];
  return load ? [await load()] : loadAllCommands();
}
