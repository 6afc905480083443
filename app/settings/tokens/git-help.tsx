import { env } from "#core/env.ts";
import { CodeBlock } from "../../_components/code-block.tsx";

/** How git is given a token: as the password that it asks for, never in an address, which ends up in logs and in shell histories. */
export function GitHelp({ username }: Readonly<{ username: string }>) {
  const { ORIGIN } = env();
  return (
    <details className="rounded-card border border-line bg-surface px-4 py-3 sm:px-5">
      <summary className="font-medium">How to use a token with git</summary>
      <div className="mt-3 grid max-w-reading gap-3 text-small">
        <p>
          When git asks, your username is <code>{username}</code> and the password is the token. It needs <code>read-repos</code>{" "}
          to clone what is private, and <code>write-repos</code> to push.
        </p>
        <p>To be asked once only, let git keep what you type, as your system keeps other passwords:</p>
        <CodeBlock label="commands to keep the token" code={keeper(ORIGIN, username)} />
        <p className="text-muted">
          Do not write the token into the address of a repository: it would stay in the folder's settings and in your shell's
          history.
        </p>
      </div>
    </details>
  );
}

const keeper = (origin: string, username: string): string =>
  [
    `git config --global credential.${origin}.username ${username}`,
    "git config --global credential.helper store   # or: osxkeychain, manager, libsecret",
  ].join("\n");
