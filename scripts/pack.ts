import { relative } from "node:path";
import { packPackages } from "./pack/pack-packages.ts";
import { ROOT } from "./pack/run-program.ts";

/** `npm run pack`: the packages that outsiders install, as tarballs, which the service then serves at `/downloads/`. */
for (const path of packPackages()) console.log(relative(ROOT, path));
