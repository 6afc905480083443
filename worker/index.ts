import { DELEGATION_CHANNEL } from "#core/access/delegation.ts";
import { closeConnections } from "#core/db.ts";
import { followLateChanges, LATE_CHANGES_CHANNEL, lateChangesTable } from "#core/hub/discussions/late-changes.ts";
import { maintainRepository } from "#core/hub/git/maintenance/maintain-repository.ts";
import { MAINTENANCE_CHANNEL, maintenanceTable } from "#core/hub/git/maintenance/maintenance-table.ts";
import { outliveRejections } from "#core/instance/outlive-rejections.ts";
import { sayAlive } from "#core/instance/say-alive.ts";
import { stopWhenTold } from "#core/instance/stop-when-told.ts";
import { log } from "#core/log.ts";
import { deliverMail } from "#core/mail/deliver-mail.ts";
import { MAIL_CHANNEL, mailTable } from "#core/mail/mail-table.ts";
import { closeMailTransport } from "#core/mail/send-mail.ts";
import { stopListening } from "#core/notifications.ts";
import { deliverLogoutNotice } from "#core/oauth/back-channel-logout/deliver-logout-notice.ts";
import { LOGOUT_NOTICE_CHANNEL, logoutNoticeTable } from "#core/oauth/back-channel-logout/logout-notice-table.ts";
import { startOwnProcess } from "#core/operations/metrics/own-process.ts";
import { startTraces } from "#core/operations/traces/start-traces.ts";
import { settleEndedDelegations } from "#core/webhooks/delegated.ts";
import { startAuditSeals } from "./audit-seals.ts";
import { startDeliveries } from "./deliveries.ts";
import { startDeliveryPartitions } from "./delivery-partitions.ts";
import { startExchangeWatch } from "./exchange-watch.ts";
import { startFanOut } from "./fan-out.ts";
import { startGitUpkeep } from "./git-upkeep.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { startJobs } from "./jobs.ts";
import { startLoop } from "./loop.ts";
import { startRelays } from "./relays.ts";
import { startReplays } from "./replays.ts";
import { startRounds } from "./rounds.ts";
import { startRunnerReport } from "./runner-report.ts";
import { startSchedules } from "./schedules.ts";
import { startSessionEnds } from "./session-ends.ts";
import { startSpaces } from "./spaces.ts";
import { startStorage } from "./storage.ts";

outliveRejections();

/** The worker: background work. Any number of workers share the work of one database. */
const loops = [
  await startLoop({ table: mailTable, channel: MAIL_CHANNEL, concurrency: 8, run: deliverMail }),
  await startLoop({
    table: logoutNoticeTable,
    channel: LOGOUT_NOTICE_CHANNEL,
    concurrency: 32,
    run: deliverLogoutNotice,
  }),
  // One at a time: it is not urgent, and urgent work needs the machine.
  await startLoop({ table: maintenanceTable, channel: MAINTENANCE_CHANNEL, concurrency: 1, run: maintainRepository }),
  // Two: one that git never answers does not block the others.
  await startLoop({ table: lateChangesTable, channel: LATE_CHANGES_CHANNEL, concurrency: 2, run: followLateChanges }),
  await startDeliveries(),
  await startJobs(),
  await startSchedules(),
  await startSessionEnds(),
  await startDeliveryPartitions(),
  await startFanOut(),
  // Ends what was created under ended grants.
  await startRounds({
    channel: DELEGATION_CHANNEL,
    pollMs: 30_000,
    work: settleEndedDelegations,
    complaint: "cannot stop what was made under ended grants; trying again",
  }),
  await startReplays(),
  await startRelays(),
  await startSpaces(),
  startAuditSeals(),
  startGitUpkeep(),
  startHousekeeping(),
  startStorage(),
  startExchangeWatch(),
  startRunnerReport(),
];

const own = startOwnProcess("worker");
const traces = await startTraces("worker");
log().info("the worker has started");
sayAlive();

stopWhenTold(async () => {
  await Promise.all(loops.map((loop) => loop.stop()));
  closeMailTransport();
  await own.stop();
  await traces.stop();
  await stopListening();
  await closeConnections();
});
