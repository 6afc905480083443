import { Cog } from "lucide-react";
import Link from "next/link";
import { authorOf, messageOf } from "#core/accounts/audit-log/audit-event-on-the-wire.ts";
import type { AuditRow as Entry } from "#core/accounts/audit-log/read-audit-entries.ts";
import { Avatar, avatarSrc } from "../avatar.tsx";
import { ListRow } from "../list.tsx";
import { RelativeTime } from "../relative-time.tsx";

type AuditRowProps = Readonly<{
  entry: Entry;
  href: string;
  isOrganizationShown: boolean;
}>;

export function AuditRow({ entry, href, isOrganizationShown }: AuditRowProps) {
  const { actorId, actorName, ip, token, type, createdAt, orgName } = entry;
  const facts = [type, ip, token && describeToken(token), isOrganizationShown && orgName && `in ${orgName}`].filter(Boolean);
  return (
    <ListRow
      leading={
        actorId ? (
          <Avatar name={actorName ?? "?"} src={actorName ? avatarSrc(actorName, null) : undefined} size="sm" />
        ) : (
          <System />
        )
      }
      title={
        <Link href={href} prefetch={false} className="min-w-0 break-words hover:underline">
          <strong className="font-semibold">{authorOf(entry)}</strong> <span className="font-normal">{messageOf(entry)}</span>
        </Link>
      }
      meta={facts.join(" · ")}
      trailing={
        <span className="text-muted text-small">
          <RelativeTime at={createdAt} />
        </span>
      }
    />
  );
}

function System() {
  return (
    <span className="grid size-7 shrink-0 place-items-center rounded-full border border-line bg-sunken text-muted">
      <Cog className="size-4" aria-hidden="true" />
    </span>
  );
}

const tokenKinds: Record<string, string> = {
  personal: "access token",
  oauth: "token of an app",
  exchanged: "exchanged token",
  ci: "token of a CI job",
};

export function describeToken({ type, name, last4 }: NonNullable<Entry["token"]>): string {
  return [tokenKinds[type] ?? type, name && `“${name}”`, last4 && `…\u2060${last4}`].filter(Boolean).join(" ");
}
