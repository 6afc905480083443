import { db } from "#core/db.ts";
import { type Finding, findings } from "./finding.ts";

const report = findings("operator");

/** Whether somebody can manage the service from its pages. */
export async function checkPeople(): Promise<Finding[]> {
  const operators = await db().user.count({ where: { isOperator: true, disabledAt: null } });
  if (operators > 0) return [report.ok(operators === 1 ? "one" : String(operators))];
  return [report.warn("none yet", "Open the set-up link that the service prints as it starts, or use: user create --operator")];
}
