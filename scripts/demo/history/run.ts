import { withInstance } from "../../admin/run-command.ts";
import { seedHistory } from "./seed-history.ts";

/** In a process of its own, beside the start of the sample sites: loading the parts of the service takes longer than the seeding. */
await withInstance(() => seedHistory());
// Looking up a client listens for its changes from then on, which would keep the process alive.
process.exit();
