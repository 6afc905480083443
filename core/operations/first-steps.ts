import type { Person } from "../access/actor.ts";
import { db } from "../db.ts";

export const firstSteps = ["repository", "token", "webhook", "secondStep"] as const;
export type FirstStep = (typeof firstSteps)[number];

export async function readFirstSteps({ userId }: Person): Promise<{ step: FirstStep; isDone: boolean }[] | null> {
  const [row] = await db().$queryRaw<({ isDismissed: boolean } & Record<FirstStep, boolean>)[]>`
    WITH owner AS (
      SELECT ${userId} AS id UNION ALL SELECT org_id FROM membership WHERE user_id = ${userId})
    SELECT u.first_steps_dismissed_at IS NOT NULL AS "isDismissed",
           EXISTS (SELECT FROM repo r JOIN owner o ON o.id = r.owner_id 
                    WHERE r.proposed_to_id IS NULL AND (r.created_by_id = u.id OR r.owner_id = u.id)) AS repository,
           EXISTS (SELECT FROM personal_access_token t WHERE t.user_id = u.id) AS token,
           EXISTS (SELECT FROM webhook w JOIN owner o ON o.id = w.owner_id WHERE w.created_by_id = u.id OR w.owner_id = u.id) AS webhook,
           EXISTS (SELECT FROM passkey p WHERE p.user_id = u.id)
             OR EXISTS (SELECT FROM totp t WHERE t.user_id = u.id AND t.confirmed_at IS NOT NULL) AS "secondStep"
      FROM "user" u WHERE u.id = ${userId}`;
  if (!row || row.isDismissed || firstSteps.every((step) => row[step])) return null;
  return firstSteps.map((step) => ({ step, isDone: row[step] }));
}

/** No permission and no audit entry are needed, because this only affects the user's own page. */
export async function dismissFirstSteps({ userId }: Person): Promise<void> {
  await db().user.updateMany({ where: { id: userId, firstStepsDismissedAt: null }, data: { firstStepsDismissedAt: new Date() } });
}
