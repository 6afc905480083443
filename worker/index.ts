import { closeConnections } from "#core/db.ts";
import { followLateChanges, LATE_CHANGES_CHANNEL, lateChangesTable } from "#core/hub/discussions/late-changes.ts";
import { MAINTENANCE_CHANNEL, maintainRepository, maintenanceTable } from "#core/hub/git/maintenance/maintain-repository.ts";
import { chunkLfsObject, LFS_CHUNKING_CHANNEL, lfsChunkingTable } from "#core/hub/xet/chunk-lfs-object.ts";
import { isXetEnabled } from "#core/hub/xet/xet-token.ts";
import { releaseStartMemory, reportAlive, stopOnSignal, surviveRejections } from "#core/instance/process-lifecycle.ts";
import { log } from "#core/log.ts";
import { deliverMail } from "#core/mail/deliver-mail.ts";
import { MAIL_CHANNEL, mailTable } from "#core/mail/mail-table.ts";
import { closeMailTransport } from "#core/mail/send-mail.ts";
import { stopListening } from "#core/notifications.ts";
import { LOGOUT_NOTICE_CHANNEL, logoutNoticeTable, type QueuedLogoutNotice } from "#core/oauth/logout/queue-logout-notices.ts";
import { startOwnProcess } from "#core/operations/metrics/process-metrics.ts";
import { startTraces } from "#core/operations/traces/start-traces.ts";
import { startDeliveries, startDeliveryPartitions, startRelayEnds, startRelayedResponses, startReplays } from "./deliveries.ts";
import { startLoop } from "./loop.ts";
import { startJobs, startRunnerReport, startSchedules, startSpaces } from "./runs.ts";
import { startUpkeep } from "./upkeep.ts";

surviveRejections();

const loops = [
  await startLoop({ table: mailTable, channel: MAIL_CHANNEL, concurrency: 8, run: deliverMail }),
  await startLoop({
    table: logoutNoticeTable,
    channel: LOGOUT_NOTICE_CHANNEL,
    concurrency: 32,
    // The OAuth engine takes 35 MB of memory, so it is loaded with the first notice.
    run: async (notice: QueuedLogoutNotice, claimId) =>
      (await import("#core/oauth/logout/deliver-logout-notice.ts")).deliverLogoutNotice(notice, claimId),
  }),
  // Maintenance is not urgent, so one at a time is enough.
  await startLoop({ table: maintenanceTable, channel: MAINTENANCE_CHANNEL, concurrency: 1, run: maintainRepository }),
  // Two files are chunked at once, so that one that takes very long does not block the others.
  ...(isXetEnabled()
    ? [await startLoop({ table: lfsChunkingTable, channel: LFS_CHUNKING_CHANNEL, concurrency: 2, run: chunkLfsObject })]
    : []),
  await startLoop({ table: lateChangesTable, channel: LATE_CHANGES_CHANNEL, concurrency: 2, run: followLateChanges }),
  await startDeliveryPartitions(),
  await startDeliveries(),
  await startReplays(),
  await startRelayedResponses(),
  await startRelayEnds(),
  await startJobs(),
  await startSchedules(),
  await startRunnerReport(),
  await startSpaces(),
  ...(await startUpkeep()),
];

const own = startOwnProcess("worker");
const traces = await startTraces("worker");
log().info("the worker has started");
reportAlive();
releaseStartMemory();

stopOnSignal(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  closeMailTransport();
  await own.stop();
  await traces.stop();
  await stopListening();
  await closeConnections();
});
