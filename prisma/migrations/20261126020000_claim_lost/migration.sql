-- Aborts a statement that records results if one of its claims is no longer its worker's (core/webhooks/delivery/record-deliveries.ts).
CREATE FUNCTION claim_lost() RETURNS INT LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a claim was lost' USING ERRCODE = 'KH001';
END $$;
