import type { Account, FindAccount } from "oidc-provider";
import { pool } from "#core/db.ts";
import { personClaims, userinfoClaims } from "./claims.ts";
import { type AccountRow, requestRows } from "./request-rows.ts";

const FIND = `SELECT id, username, full_name AS "fullName", email, email_verified_at IS NOT NULL AS "isEmailVerified", website
  FROM "user" WHERE id = $1 AND disabled_at IS NULL`;

/** The account of a token or session. Disabled users are not found, which ends tokens and sessions alike (S49, S112). */
export const findAccount: FindAccount = async (_ctx, id) => {
  const account = requestRows().accounts.get(id) ?? (await readAccount(id));
  return account && toEngineAccount(account);
};

async function readAccount(id: string): Promise<AccountRow | undefined> {
  const { rows } = await pool().query<AccountRow>({ name: "account-find", text: FIND, values: [id] });
  return rows[0];
}

function toEngineAccount(account: AccountRow): Account {
  return {
    accountId: account.id,
    claims: async (use, scope) =>
      use === "userinfo" ? userinfoClaims(account, account.organizations ?? [], scope) : personClaims(account),
  };
}
