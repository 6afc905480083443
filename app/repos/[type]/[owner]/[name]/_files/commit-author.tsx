import Link from "next/link";
import type { Signature } from "#core/hub/git/read/commit.ts";
import type { Author } from "#core/hub/git/read/find-authors.ts";
import { Avatar } from "../../../../../_components/avatar.tsx";
import { avatarSrc } from "../../../../../_components/avatar-src.ts";

/** Who wrote a commit: an account here, or the name that stands in it. */
export function CommitAuthor({ signature, account }: Readonly<{ signature: Signature; account: Author | undefined }>) {
  const name = signature.name || "(nobody)";
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <Avatar size="xs" name={name} src={account && avatarSrc(account.username, account.avatarId)} />
      {account ? (
        <Link prefetch={false} href={`/${account.username}`} className="truncate font-medium hover:underline">
          {account.username}
        </Link>
      ) : (
        <bdi className="truncate">{name}</bdi>
      )}
    </span>
  );
}
