import { recordAboutSomebody } from "../../audit/record-about-somebody.ts";
import type { RequestOrigin } from "../../audit/request-origin.ts";
import { type Db, db, pool } from "../../db.ts";
import { invalidRequest, ServiceError } from "../../errors.ts";
import { log } from "../../log.ts";
import { countPasswordAttempt } from "../count-password-attempt.ts";
import { readEmailAddress } from "../email-address.ts";
import { knownDevice } from "../known-device.ts";
import { presentedPassword } from "../passwords/check-password.ts";
import { hashPassword, isOutdatedHash, verifyPassword } from "../passwords/password-hash.ts";
import { plainText } from "../plain-text.ts";
import { accountIsDisabled, completeSignIn, type SignInOutcome } from "../sessions/complete-sign-in.ts";

type SignInInput = {
  login: string;
  password: string;
  knownBy?: string | undefined;
  /** The token of the session that the new one replaces (S34). */
  replaces?: string;
};

/** An unknown login and a wrong password get the same response after the same work (S115). */
export async function signIn(input: SignInInput, from: RequestOrigin): Promise<SignInOutcome> {
  const login = canonicalLogin(input.login);
  const password = presentedPassword(input.password);
  const user = await findByLogin(login);
  const attempt = await countPasswordAttempt({ login, device: knownDevice(user, input.knownBy) }, from);
  if (!(await attempt.verify(() => verifyPassword(user?.passwordHash, password, login))) || !user?.passwordHash) {
    // The login is not logged, because people enter their password there by mistake.
    log().info({ ip: from.ip, userId: user?.id }, "sign-in failed");
    // Not awaited, because the response time must not reveal that the account exists (S115).
    if (user) void recordFailure(user.id, from);
    throw wrongLogin();
  }
  await attempt.succeeded();
  if (user.disabledAt) throw accountIsDisabled();
  const newHash = isOutdatedHash(user.passwordHash) ? await hashPassword(password) : undefined;
  return db().$transaction(async (tx) => {
    await requireUnchanged(tx, user);
    if (newHash) await tx.user.update({ where: { id: user.id }, data: { passwordHash: newHash } });
    return completeSignIn(tx, user.id, { methods: ["pwd"], provedBy: "password", replaces: input.replaces }, from);
  });
}

/** The entries are limited, because many addresses together can enter any number of wrong passwords (S144). */
async function recordFailure(subjectId: string, from: RequestOrigin): Promise<void> {
  const event = { type: "user.sign_in_failed", subjectId, clientId: null, from } as const;
  await recordAboutSomebody(db(), event).catch((error: unknown) =>
    log().warn({ err: error }, "a failed sign-in could not be recorded"),
  );
}

function canonicalLogin(value: unknown): string {
  const login = plainText("login", value, 1_000).trim();
  if (login === "") throw invalidRequest("Enter your username or e-mail address.", "login");
  return readEmailAddress(login)?.canonical ?? login.toLowerCase();
}

type Candidate = { id: string; passwordHash: string | null; disabledAt: Date | null };

/** One query is made for every login, so that the time of an unknown login is the same. */
async function findByLogin(login: string): Promise<Candidate | undefined> {
  const { rows } = await pool().query<Candidate>({
    name: "find-user-by-login",
    text: `SELECT id, password_hash AS "passwordHash", disabled_at AS "disabledAt" FROM "user"
            WHERE email_canonical = $1 OR id = (SELECT user_id FROM handle WHERE handle = $1)`,
    values: [login],
  });
  return rows[0];
}

/** A concurrent change of the password, or disabling the user, could not end this session, which did not exist yet. */
async function requireUnchanged(tx: Db, { id, passwordHash }: Candidate): Promise<void> {
  const same = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM "user" WHERE id = ${id} AND password_hash = ${passwordHash} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  if (same.length === 0) throw wrongLogin();
}

function wrongLogin(): ServiceError {
  return new ServiceError("unauthorized", "Incorrect username or password.", { field: "password" });
}
