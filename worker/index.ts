import { closeConnections } from "#core/db.ts";
import { stopWhenTold } from "#core/instance/stop-when-told.ts";
import { log } from "#core/log.ts";

log().info("worker started");
process.send?.("ready");
stopWhenTold(closeConnections);
