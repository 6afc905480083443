import type { Attack } from "../attack.ts";
import { slowBodies } from "./connections.ts";
import { costlyClones, idleUploadPacks, slowDownloads, treeWalks } from "./git.ts";
import { readmes, wrongElements, yaml } from "./parsers.ts";
import { sharedMemory, spaceFillsDisk } from "./sandbox.ts";
import { passwordFlood, wrongPasswords } from "./sign-in.ts";

export const attacks: Attack[] = [
  yaml,
  spaceFillsDisk,
  sharedMemory,
  idleUploadPacks,
  treeWalks,
  readmes,
  wrongPasswords,
  wrongElements,
  slowBodies,
  slowDownloads,
  costlyClones,
  passwordFlood,
];
