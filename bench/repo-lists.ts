import { pool } from "#core/db.ts";
import { writeCursor } from "#core/hub/repos/list-repos.ts";
import { asOwner } from "#core/testing/as-owner.ts";
import { get, runOnInstance, scansOf, timesOf, userWithToken } from "./instance.ts";

/** `node bench/repo-lists.ts`: each list must stay under 50 ms of server time, and none may scan the whole table. */
const REPOS = 100_000;
const AIM_MS = 50;
const REQUESTS = 60;

await runOnInstance(async (origin) => {
  let isGood = true;
  const { token, username } = await fill();
  const deep = writeCursor({ at: new Date(Date.now() - 75_000 * 1000), id: "0".repeat(24) });
  const lists: [name: string, path: string, token?: string][] = [
    ["latest", "/api/models?limit=30"],
    ["latest, with a token", "/api/models?limit=30", token],
    ["latest, 1,000 of them", "/api/models?limit=1000"],
    ["latest created", "/api/models?limit=30&sort=createdAt"],
    ["a late page", `/api/models?limit=30&cursor=${deep}`, token],
    ["of an owner of 10,000", `/api/models?limit=30&author=${username}`, token],
    ["of an owner of 10,000, public only", `/api/models?limit=30&author=${username}`],
    ["of an owner of 60", "/api/datasets?limit=30&author=owner-77", token],
    ["a common word", "/api/models?limit=30&search=tide", token],
    ["a rare word", "/api/models?limit=30&search=r99998", token],
    ["a word that no name has", "/api/models?limit=30&search=zeppelin", token],
    ["two letters", "/api/models?limit=30&search=ti", token],
    ["two letters that begin no name", "/api/models?limit=30&search=zz", token],
    ["a common tag", "/api/models?limit=30&filter=sea", token],
    ["a rare tag", "/api/models?limit=30&filter=only-70000", token],
    ["a tag that no repository has", "/api/models?limit=30&filter=nowhere", token],
    ["counts of an owner of 10,000", `/api/users/${username}/overview`, token],
  ];
  console.log(
    `${REPOS.toLocaleString("en")} repositories; server time of a page, aim: under ${AIM_MS} ms and no scan of the table`,
  );
  console.log("                                   p50 ms   p99 ms  scans");
  for (const [name, path, withToken] of lists) {
    const before = await scansOf("^repo$");
    const { p50, p99 } = await timesOf(REQUESTS, () => get(origin + path, withToken));
    const scans = (await scansOf("^repo$")) - before;
    isGood &&= p50 < AIM_MS && scans === 0;
    console.log(`${name.padEnd(34)} ${p50.toFixed(1).padStart(7)} ${p99.toFixed(1).padStart(8)} ${String(scans).padStart(6)}`);
  }
  return isGood;
});

async function fill(): Promise<{ token: string; username: string }> {
  const { id, username, token } = await userWithToken("read-repos");
  await pool().query(
    `INSERT INTO organization (id, name, full_name)
       SELECT 'a' || lpad(to_hex(n), 23, '0'), 'owner-' || n, 'Owner ' || n FROM generate_series(1, 1000) n`,
  );
  await pool().query("INSERT INTO handle (handle, org_id) SELECT name, id FROM organization");
  // The user is a member of these organizations, so their private repositories are searched too.
  await pool().query(
    `INSERT INTO membership (org_id, user_id, role) SELECT id, $1, 'read' FROM organization WHERE name LIKE 'owner-7%'`,
    [id],
  );
  await pool().query(
    `INSERT INTO repo (id, type, owner_id, owner_kind, name, name_canonical, is_private, tags, created_at, updated_at)
       SELECT 'b' || lpad(to_hex(n), 23, '0'), CASE WHEN n % 4 = 1 THEN 'dataset' ELSE 'model' END,
              CASE WHEN n % 10 = 0 THEN $1 ELSE 'a' || lpad(to_hex(1 + n % 1000), 23, '0') END,
              CASE WHEN n % 10 = 0 THEN 'user' ELSE 'organization' END,
              word || '-r' || n, word || '-r' || n, n % 3 = 0,
              CASE WHEN n % 2 = 0 THEN ARRAY['sea', 'only-' || n] ELSE ARRAY['land'] END,
              now() - make_interval(secs => n), now() - make_interval(secs => n)
         FROM (SELECT n, (ARRAY['tide', 'moon', 'harbour', 'gull'])[1 + n % 4] AS word FROM generate_series(1, $2::int) n) numbers`,
    [id, REPOS],
  );
  await asOwner("VACUUM ANALYZE repo");
  return { token, username };
}
