import { SearchX } from "lucide-react";
import type { Metadata } from "next";
import Link from "next/link";
import { type ListedUser, listUsers, type UserState, userStates } from "#core/accounts/users/list-users.ts";
import { Avatar, avatarSrc } from "../../_components/avatar.tsx";
import { ButtonLink } from "../../_components/button.tsx";
import { EmptyState, ListPage, ListRow } from "../../_components/list.tsx";
import { RelativeTime } from "../../_components/relative-time.tsx";
import { Filter, SearchForm } from "../../_components/search-form.tsx";
import { hrefWith, noticeOf, type PageQuery, searchOf, textOf } from "../../_server/page-query.ts";
import { requireOperator } from "../../_server/session.ts";
import { USERS_PATH, userPath } from "../paths.ts";
import { UserChips } from "./user-chips.tsx";

export const metadata: Metadata = { title: "Users · Administration" };

const stateLabels: Record<UserState, string> = {
  operator: "Operators",
  disabled: "Disabled",
  unverified: "Address not verified",
};

export default async function AdminUsersPage({ searchParams }: Readonly<{ searchParams: PageQuery }>) {
  const query = await searchParams;
  const search = searchOf(query.search);
  const state = userStates.find((each) => each === textOf(query.state));
  const operator = await requireOperator(USERS_PATH);
  const users = await listUsers(operator, { text: search, ...(state && { state }), page: Number(textOf(query.page)) });
  return (
    <ListPage
      title="Users"
      description="All users, newest first."
      notice={noticeOf({ deleted: "Account deleted. Nobody can use its name again." }, query.notice)}
      label="Users"
      things="users"
      list={users}
      hrefOf={(page) => hrefWith(USERS_PATH, { search, state, page })}
      row={(user) => <UserRow key={user.id} user={user} />}
      empty={<NoUsers />}
    >
      <SearchForm action={USERS_PATH} label="Beginning of a name or an e-mail address, or an ID" value={search}>
        <Filter
          name="state"
          label="State"
          value={state}
          options={userStates.map((value) => ({ value, label: stateLabels[value] }))}
        />
      </SearchForm>
    </ListPage>
  );
}

function UserRow({ user }: Readonly<{ user: ListedUser }>) {
  const { id, username, fullName, email, avatarId, createdAt } = user;
  return (
    <ListRow
      leading={<Avatar name={fullName || username} src={avatarSrc(username, avatarId)} />}
      title={
        <>
          <Link prefetch={false} href={userPath(id)} className="link wrap-anywhere min-w-0">
            {username}
          </Link>
          <UserChips user={user} />
        </>
      }
      meta={
        <>
          {fullName && fullName !== username && (
            <>
              <bdi>{fullName}</bdi> ·{" "}
            </>
          )}
          <span className="wrap-anywhere">{email}</span> · joined <RelativeTime at={createdAt} />
        </>
      }
    />
  );
}

function NoUsers() {
  return (
    <EmptyState Icon={SearchX} title="No users match" action={<ButtonLink href={USERS_PATH}>Show all users</ButtonLink>}>
      Enter the beginning of a name or an e-mail address, or a full ID.
    </EmptyState>
  );
}
