import { switchAccount } from "./actions.ts";

/** A form and not a link, since the code is given back on the way. */
export function SwitchAccount({ userCode }: Readonly<{ userCode: string }>) {
  return (
    <form action={switchAccount}>
      <input type="hidden" name="user_code" value={userCode} />
      <button type="submit" className="link">
        Switch account
      </button>
    </form>
  );
}
