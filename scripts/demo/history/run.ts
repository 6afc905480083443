import { withInstance } from "../../admin/run-command.ts";
import { seedHistory } from "./seed-history.ts";

/** Runs in a separate process while the sample sites start, because loading the service's modules takes longer than the seeding. */
await withInstance(() => seedHistory());
// Exits explicitly, because looking up a client starts to listen for its changes, which would keep the process alive.
process.exit();
