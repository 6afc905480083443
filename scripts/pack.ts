import { relative } from "node:path";
import { packPackages, ROOT } from "./pack/pack-packages.ts";
import { writeReference } from "./pack/write-reference.ts";

/** `npm run pack` packs the packages for outsiders as tarballs, and writes the SDK's reference. */
for (const path of [...packPackages(), writeReference()]) console.log(relative(ROOT, path));
