-- What acts later than the request that made it (webhooks, jobs, schedules, replays, relays) acts with no more than the rights of that
-- request, as they are now. A delegation is what a token could do when it was used, and whose it was (core/access/delegation.ts).
CREATE TABLE "delegation" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "client_id" TEXT,
    "consent_id" TEXT,
    "token_id" TEXT NOT NULL,
    "bound_org_id" TEXT,
    "scopes" TEXT[],
    "org_ids" TEXT[],
    "is_all_orgs" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "delegation_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "delegation_user_id_token_id_idx" ON "delegation"("user_id", "token_id");
CREATE INDEX "delegation_token_id_idx" ON "delegation"("token_id");
CREATE INDEX "delegation_consent_id_idx" ON "delegation"("consent_id");
CREATE INDEX "delegation_bound_org_id_idx" ON "delegation"("bound_org_id");
CREATE INDEX "delegation_settled_at_ended_at_idx" ON "delegation"("settled_at", "ended_at");

ALTER TABLE "webhook" ADD COLUMN "delegation_id" TEXT;
ALTER TABLE "webhook_replay" ADD COLUMN "delegation_id" TEXT;
ALTER TABLE "job_run" ADD COLUMN "delegation_id" TEXT;
ALTER TABLE "scheduled_job" ADD COLUMN "delegation_id" TEXT;
ALTER TABLE "relay" ADD COLUMN "delegation_id" TEXT;
CREATE INDEX "webhook_delegation_id_idx" ON "webhook"("delegation_id");
CREATE INDEX "webhook_replay_delegation_id_idx" ON "webhook_replay"("delegation_id");
CREATE INDEX "job_run_delegation_id_idx" ON "job_run"("delegation_id");
CREATE INDEX "scheduled_job_delegation_id_idx" ON "scheduled_job"("delegation_id");
CREATE INDEX "relay_delegation_id_idx" ON "relay"("delegation_id");

-- Whether an app may act for a member of an organization by token exchange now (S95). One definition, for tokens and for delegations.
CREATE FUNCTION exchange_holds(member TEXT, client TEXT, org TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM oauth_app x JOIN organization o ON o.id = x.bound_org_id
      JOIN membership m ON m.org_id = o.id AND m.user_id = member
    WHERE x.client_id = client AND x.bound_org_id = org AND x.blocked_at IS NULL
      AND 'token-exchange' = ANY (x.privileges) AND o.plan IN ('enterprise', 'plus')
      AND NOT EXISTS (SELECT 1 FROM organization_app d WHERE d.org_id = o.id AND d.client_id = x.client_id AND d.decision = 'blocked'))
$$;

-- The delegations that still hold, with what they reach now: what the token carried, and of it what the consent grants today.
CREATE VIEW "live_delegation" AS
SELECT d.id, d.user_id, d.client_id, d.token_id, d.bound_org_id,
  CASE WHEN d.bound_org_id IS NOT NULL THEN 'exchanged' WHEN d.client_id IS NULL OR a.is_first_party THEN 'own' ELSE 'app' END AS kind,
  CASE WHEN d.consent_id IS NULL THEN d.scopes ELSE ARRAY(SELECT s FROM unnest(d.scopes) s WHERE s = ANY (c.scopes)) END AS scopes,
  d.is_all_orgs,
  CASE WHEN d.consent_id IS NULL OR c.is_all_orgs THEN d.org_ids
    ELSE ARRAY(SELECT o FROM unnest(d.org_ids) o WHERE o = ANY (c.org_ids)) END AS org_ids
FROM delegation d
JOIN "user" u ON u.id = d.user_id AND u.disabled_at IS NULL
LEFT JOIN oauth_consent c ON c.id = d.consent_id
LEFT JOIN oauth_app a ON a.client_id = d.client_id
LEFT JOIN oauth_grant g ON d.bound_org_id IS NOT NULL AND g.id = d.token_id
LEFT JOIN personal_access_token p ON d.client_id IS NULL AND p.id = d.token_id
WHERE d.ended_at IS NULL AND a.blocked_at IS NULL
  -- What each rests on must be there: nothing holds because its row is gone.
  AND CASE
    WHEN d.client_id IS NULL THEN p.id IS NOT NULL AND p.revoked_at IS NULL
    WHEN d.bound_org_id IS NOT NULL THEN
      g.id IS NOT NULL AND g.revoked_at IS NULL AND exchange_holds(d.user_id, d.client_id, d.bound_org_id)
    ELSE c.id IS NOT NULL AND c.revoked_at IS NULL
  END;

-- What ends a grant ends what was made under it, in the same transaction and for good; the worker then disables, suspends and cancels,
-- and tells people (core/webhooks/end-delegated.ts). No path can forget it.
CREATE FUNCTION "announce_delegation_end"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('delegation', '');
  RETURN NULL;
END $$;
CREATE TRIGGER "delegation_ended" AFTER UPDATE OF "ended_at" ON "delegation"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_delegation_end"();

CREATE FUNCTION "end_delegations_of_consent"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE delegation SET ended_at = now() WHERE consent_id = NEW.id AND ended_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER "oauth_consent_ends_delegations" AFTER UPDATE OF "revoked_at" ON "oauth_consent"
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION "end_delegations_of_consent"();

CREATE FUNCTION "end_delegations_of_token"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE delegation SET ended_at = now() WHERE token_id = NEW.id AND client_id IS NULL AND ended_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER "personal_access_token_ends_delegations" AFTER UPDATE OF "revoked_at" ON "personal_access_token"
  FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION "end_delegations_of_token"();

-- The functions of 20261121350001 and 20261121390901, which end what was exchanged, end what was made with it as well.
CREATE OR REPLACE FUNCTION end_exchanges_of_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = OLD.org_id AND user_id = OLD.user_id AND revoked_at IS NULL AND consent_id IS NULL;
  UPDATE delegation SET ended_at = now() WHERE bound_org_id = OLD.org_id AND user_id = OLD.user_id AND ended_at IS NULL;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION end_exchanges_of_organization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now() WHERE bound_org_id = OLD.id AND revoked_at IS NULL AND consent_id IS NULL;
  UPDATE delegation SET ended_at = now() WHERE bound_org_id = OLD.id AND ended_at IS NULL;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION end_exchanges_of_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = OLD.bound_org_id AND client_id = OLD.client_id AND revoked_at IS NULL AND consent_id IS NULL;
  UPDATE delegation SET ended_at = now() WHERE bound_org_id = OLD.bound_org_id AND client_id = OLD.client_id AND ended_at IS NULL;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION end_exchanges_of_blocked_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE oauth_grant SET revoked_at = now()
    WHERE bound_org_id = NEW.org_id AND client_id = NEW.client_id AND revoked_at IS NULL AND consent_id IS NULL;
  UPDATE delegation SET ended_at = now() WHERE bound_org_id = NEW.org_id AND client_id = NEW.client_id AND ended_at IS NULL;
  RETURN NULL;
END $$;

-- Until now nothing recorded which token made a webhook or a schedule. The audit log knows the client: what a third-party app made or
-- changed stops here, for it may reach more than the app was granted, and so does what the log says nothing of. Its owner can enable it
-- again, and then it is theirs.
UPDATE webhook w SET disabled_at = coalesce(w.disabled_at, now()), disabled_reason = 'grant_ended'
  WHERE EXISTS (SELECT 1 FROM audit_event e LEFT JOIN oauth_app a ON a.client_id = e.client_id
    WHERE e.type IN ('webhook.create', 'webhook.update') AND e.data->>'webhookId' = w.id
      AND e.client_id IS NOT NULL AND a.is_first_party IS NOT TRUE)
    OR NOT EXISTS (SELECT 1 FROM audit_event e WHERE e.type = 'webhook.create' AND e.data->>'webhookId' = w.id);
UPDATE scheduled_job s SET is_suspended = true,
    message = 'An app made this schedule, and what the app may do was not on record. Resume it to have it run in your name.'
  WHERE EXISTS (SELECT 1 FROM audit_event e LEFT JOIN oauth_app a ON a.client_id = e.client_id
    WHERE e.type IN ('scheduled_job.create', 'scheduled_job.resume') AND e.data->>'scheduleId' = s.id
      AND e.client_id IS NOT NULL AND a.is_first_party IS NOT TRUE)
    OR NOT EXISTS (SELECT 1 FROM audit_event e WHERE e.type = 'scheduled_job.create' AND e.data->>'scheduleId' = s.id);
