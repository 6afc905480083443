-- The relay (docs/decisions/063-the-relay.md).

CREATE TABLE "relay" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "token" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "listener_id" TEXT,
    "connection_id" TEXT,
    "listening_until" TIMESTAMPTZ(3),

    CONSTRAINT "relay_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "relay_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX "relay_token_hash_key" ON "relay"("token_hash");
CREATE UNIQUE INDEX "relay_user_id_name_key" ON "relay"("user_id", "name");

-- What a relay took and its handler has not been given, or has not answered; answers only until whoever waits has read them.
CREATE TABLE "relay_request" (
    "id" TEXT NOT NULL,
    "relay_id" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "headers" JSON NOT NULL,
    "body" BYTEA NOT NULL,
    "bytes" INTEGER NOT NULL,
    "received_at" TIMESTAMPTZ(6) NOT NULL,
    "is_from_inbox" BOOLEAN NOT NULL,
    "handed_to" TEXT,
    "handed_at" TIMESTAMPTZ(3),
    "handed_until" TIMESTAMPTZ(3),
    "waited_until" TIMESTAMPTZ(3),
    "delivery_id" TEXT,
    "delivery_tries" INTEGER,
    "answered_at" TIMESTAMPTZ(3),
    "status" INTEGER,
    "answer_headers" JSON,
    "answer_body" BYTEA,
    "failure" TEXT,
    "queued_at" TIMESTAMPTZ(3),

    CONSTRAINT "relay_request_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "relay_request_relay_id_fkey" FOREIGN KEY ("relay_id") REFERENCES "relay"("id") ON DELETE CASCADE ON UPDATE CASCADE
) WITH (fillfactor = 70);
CREATE INDEX "relay_request_relay_id_received_at_idx" ON "relay_request"("relay_id", "received_at");
CREATE INDEX "relay_request_delivery_id_idx" ON "relay_request"("delivery_id");
-- A delivery waits in an inbox once, however often it is sent.
CREATE UNIQUE INDEX "relay_request_open_delivery" ON "relay_request"("delivery_id") WHERE "delivery_id" IS NOT NULL AND "answered_at" IS NULL;

-- Takes a request, one at a time for each relay, so that they have an order and their number and bytes are bounded. One round trip.
CREATE FUNCTION "take_relay_request"(
    "of_relay" TEXT, "new_id" TEXT, "its_method" TEXT, "its_path" TEXT, "its_headers" JSON, "its_body" BYTEA,
    "its_delivery" TEXT, "its_tries" INTEGER, "wait_seconds" FLOAT8, "count_max" INTEGER, "bytes_max" BIGINT,
    OUT "request_id" TEXT, OUT "is_listening" BOOLEAN
) LANGUAGE plpgsql AS $$
DECLARE
    until_then TIMESTAMPTZ;
    kept INTEGER;
    kept_bytes BIGINT;
    its_bytes INTEGER := octet_length(its_body) + octet_length(its_headers::TEXT) + octet_length(its_path);
BEGIN
    SELECT coalesce(r.listening_until > clock_timestamp(), false) INTO is_listening
        FROM relay r WHERE r.id = of_relay FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    until_then := CASE WHEN is_listening THEN clock_timestamp() + make_interval(secs => wait_seconds) END;
    IF its_delivery IS NOT NULL THEN
        UPDATE relay_request q SET waited_until = until_then
            WHERE q.delivery_id = its_delivery AND q.answered_at IS NULL RETURNING q.id INTO request_id;
        IF FOUND THEN RETURN; END IF;
    END IF;
    SELECT count(*), coalesce(sum(q.bytes), 0) INTO kept, kept_bytes FROM relay_request q WHERE q.relay_id = of_relay;
    IF kept >= count_max OR kept_bytes + its_bytes > bytes_max THEN RETURN; END IF;
    INSERT INTO relay_request (id, relay_id, method, path, headers, body, bytes, received_at, is_from_inbox, waited_until,
        delivery_id, delivery_tries)
        VALUES (new_id, of_relay, its_method, its_path, its_headers, its_body, its_bytes, clock_timestamp(), NOT is_listening, until_then,
        its_delivery, its_tries);
    request_id := new_id;
    PERFORM pg_notify('relay', of_relay);
END $$;
