import { appCreate } from "./app-create.ts";
import type { Command } from "./command.ts";
import { keysRotate } from "./keys-rotate.ts";
import { userCreate } from "./user-create.ts";

/** All there are, in the order of the help text. */
export const commands: readonly Command[] = [userCreate, appCreate, keysRotate];
