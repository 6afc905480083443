import type { ReactNode } from "react";
import { Avatar, avatarSrc } from "./avatar.tsx";

type AccountLineProps = Readonly<{
  user: Readonly<{ username: string; fullName: string; email: string; avatarId: string | null }>;
  action?: ReactNode;
}>;

export function AccountLine({ user, action }: AccountLineProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-line border-y bg-sunken px-6 py-3">
      <Avatar name={user.fullName || user.username} src={avatarSrc(user.username, user.avatarId)} />
      <p className="min-w-0 flex-1 basis-40 break-words leading-5">
        <span className="block font-medium">{user.fullName || user.username}</span>
        <span className="block text-muted text-small">
          {user.username} · {user.email}
        </span>
      </p>
      {action && <span className="text-small">{action}</span>}
    </div>
  );
}
