import { withInstance } from "../../admin/run-command.ts";
import { seedHistory } from "./seed-history.ts";

/** The demo runs this file as a process, because loading the service's modules takes longer than the seeding. */
await withInstance(() => seedHistory());
// Looking up a client starts to listen for its changes, which would keep the process alive.
process.exit();
