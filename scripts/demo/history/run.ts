import { withInstance } from "../../admin/run-command.ts";
import { seedHistory } from "./seed-history.ts";

/** A separate process, which runs while the sample sites start: loading the service's modules takes longer than the seeding. */
await withInstance(() => seedHistory());
// Looking up a client listens for its changes from then on, which would keep the process alive.
process.exit();
