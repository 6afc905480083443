import { appCreate } from "./app-create.ts";
import { clientHostAllow, clientHostBlock, clientHostList, clientHostPolicy, clientHostRemove } from "./client-host.ts";
import type { Command } from "./command.ts";
import { doctor } from "./doctor.ts";
import { keysRotate } from "./keys-rotate.ts";
import { orgAddMember } from "./org-add-member.ts";
import { orgCreate } from "./org-create.ts";
import { registrationOff, registrationOn, registrationShow } from "./registration.ts";
import { resourceAdd, resourceList, resourceRemove, resourceRotate } from "./resource.ts";
import { tokenCreate } from "./token-create.ts";
import { userCreate } from "./user-create.ts";

/** All there are, in the order of the help text. */
export const commands: readonly Command[] = [
  userCreate,
  orgCreate,
  orgAddMember,
  appCreate,
  tokenCreate,
  keysRotate,
  registrationOn,
  registrationOff,
  registrationShow,
  resourceAdd,
  resourceList,
  resourceRotate,
  resourceRemove,
  clientHostBlock,
  clientHostAllow,
  clientHostRemove,
  clientHostList,
  clientHostPolicy,
  doctor,
];
